// Begins the session, reads what there is to read, and draws the page whenever something has changed.
import { App } from "./app.js";
import { load } from "./data.js";
import { html, render } from "./html.js";
import { begin } from "./session.js";
import { change, drawn, state } from "./store.js";

const page = document.getElementById("page");
drawn(() => render(html`<${App}/>`, page));

async function start() {
  change({});
  try {
    if (await begin()) await load();
  } catch (error) {
    if (!state.login) change({ login: { what: error.message, next: error.next ?? "" } });
  }
}

page.textContent = "";
setInterval(() => document.hidden || change({ now: Date.now() }), 1000);
addEventListener("hashchange", () => location.hash.startsWith("#code=") && location.reload());
start();
