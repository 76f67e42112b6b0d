// A document and window for editors that expect a browser, made by jsdom.
import { JSDOM } from "jsdom";

const dom = new JSDOM("<!doctype html><html><body></body></html>", {
  pretendToBeVisual: true,
  url: "http://localhost/",
});
const { window } = dom;

for (const name of Object.getOwnPropertyNames(window)) {
  if (!(name in globalThis)) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => window[name],
    });
  }
}
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) {
  globalThis[name] = window[name].bind(window);
}
// Node's own events are foreign to jsdom's targets.
for (const name of ["Event", "CustomEvent"]) {
  Object.defineProperty(globalThis, name, { configurable: true, value: window[name] });
}
Object.defineProperty(globalThis, "window", { configurable: true, value: window });
Object.defineProperty(globalThis, "navigator", { configurable: true, value: window.navigator });

// jsdom computes no layout; editors that ask for a position get an empty rectangle.
const rectangle = () => ({ bottom: 0, height: 0, left: 0, right: 0, top: 0, width: 0, x: 0, y: 0 });
for (const owner of [window.Range.prototype, window.HTMLElement.prototype]) {
  owner.getBoundingClientRect = rectangle;
  owner.getClientRects = () => [];
}
document.elementFromPoint ??= () => null;

export function place() {
  const element = document.createElement("div");
  document.body.append(element);
  return element;
}
