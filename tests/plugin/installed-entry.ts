// What LM Studio's installer writes into `.lmstudio/entry.ts` of a plugin, and bundles as CommonJS
// (`generateEntryFile.ts` of lms-es-plugin-runner in lmstudio.js): the plugin is imported late, and
// an error in it is told, not thrown.
import { LMStudioClient, type PluginContext } from "@lmstudio/sdk";

const { LMS_PLUGIN_CLIENT_IDENTIFIER, LMS_PLUGIN_CLIENT_PASSKEY, LMS_PLUGIN_BASE_URL } = process.env;
const client = new LMStudioClient({
  clientIdentifier: LMS_PLUGIN_CLIENT_IDENTIFIER!,
  clientPasskey: LMS_PLUGIN_CLIENT_PASSKEY!,
  baseUrl: LMS_PLUGIN_BASE_URL!,
});
const host = client.plugins.getSelfRegistrationHost();
const context: PluginContext = {
  withConfigSchematics: (given) => (host.setConfigSchematics(given), context),
  withGlobalConfigSchematics: (given) => (host.setGlobalConfigSchematics(given), context),
  withPromptPreprocessor: (given) => (host.setPromptPreprocessor(given), context),
  withToolsProvider: (given) => (host.setToolsProvider(given), context),
  withPredictionLoopHandler: (given) => (host.setPredictionLoopHandler(given), context),
  withGenerator: (given) => (host.setGenerator(given), context),
};
import("./../src/index.ts")
  .then((module) => module.main(context))
  .then(() => host.initCompleted())
  .catch((error: unknown) => console.error("The plugin failed to start.", error));
