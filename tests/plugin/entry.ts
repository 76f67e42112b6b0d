// Starts a plugin as LM Studio's own runner does (`lms-es-plugin-runner` of lmstudio.js writes such a
// file next to the plugin): a client with the credentials of the environment, a context that
// registers what the plugin hands in, and the word that it is done.
import { LMStudioClient, type PluginContext } from "@lmstudio/sdk";

import { main } from "plugin-under-test";

const { LMS_PLUGIN_CLIENT_IDENTIFIER, LMS_PLUGIN_CLIENT_PASSKEY, LMS_PLUGIN_BASE_URL } = process.env;
const client = new LMStudioClient({
  clientIdentifier: LMS_PLUGIN_CLIENT_IDENTIFIER!,
  clientPasskey: LMS_PLUGIN_CLIENT_PASSKEY!,
  baseUrl: LMS_PLUGIN_BASE_URL!,
});
const host = client.plugins.getSelfRegistrationHost();
const once = <T>(register: (given: T) => unknown) => {
  let done = false;
  return (given: T): PluginContext => {
    if (done) throw new Error("registered twice");
    done = true;
    register(given);
    return context;
  };
};
const context: PluginContext = {
  withConfigSchematics: once((given) => host.setConfigSchematics(given)),
  withGlobalConfigSchematics: once((given) => host.setGlobalConfigSchematics(given)),
  withPromptPreprocessor: once((given) => host.setPromptPreprocessor(given)),
  withToolsProvider: once((given) => host.setToolsProvider(given)),
  withPredictionLoopHandler: () => {
    throw new Error("a prediction loop handler shuts out the tools provider");
  },
  withGenerator: () => {
    throw new Error("this is no generator");
  },
};
void main(context).then(() => host.initCompleted());
