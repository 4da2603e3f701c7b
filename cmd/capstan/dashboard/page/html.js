// The two libraries that draw: markup only ever comes from this source, and text of a cluster is only set as text.
import { Component, h, render } from "./lib/preact.js";
import htm from "./lib/htm.js";

export const html = htm.bind(h);
export { Component, render };
