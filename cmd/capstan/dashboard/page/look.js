// What people have to see to: objects that need a look, and the acts by which they asked for something for a time.
import { html } from "./html.js";
import { Command, Prose } from "./copy.js";
import { state } from "./store.js";
import { count, moment, until } from "./words.js";

const words = {
  machine: "the machine waits for somebody", image: "an image cannot be had", consent: "waits for consent", collision: "belongs to somebody else",
  refused: "the API server refuses it", contested: "others write it too", finding: "is not as the API server wants it", differs: "differs while paused",
  leftalone: "is left alone", retained: "is kept for the data in it", stray: "is nobody's",
};
const mild = ["leftalone", "retained", "stray", "finding", "differs"];

export function Look({ view }) {
  if (!view.look.length) return html`<p class="none">Nothing needs a look.</p>`;
  return html`<ul class="items">${view.look.slice(0, 100).map((one) => html`<li class=${mild.includes(one.trouble) ? "warn" : "alarm"} key=${one.trouble + one.object + one.why}>
      <p class="title">${one.object && html`<b>${one.object}</b>`}<span class="badge ${mild.includes(one.trouble) ? "warn" : "alarm"}">${words[one.trouble] ?? one.trouble}</span></p>
      ${one.why && html`<p>${one.why}</p>`}
      ${one.next && html`<p class="soft"><${Prose} text=${one.next}/></p>`}
      ${one.command && html`<${Command} text=${one.command}/>`}
    </li>`)}</ul>
    ${more(view) > 0 && html`<p class="soft">${count(more(view), "more")}${" "}not shown here: <code>capstan status</code> has them.</p>`}`;
}

const more = (view) => (view.moreLook ?? 0) + Math.max(0, view.look.length - 100);

export const looks = (view) => Math.min(view.look.length, 100) + more(view);

export function Acts({ view }) {
  if (!view.acts.length) return html`<p class="none">Nobody asks for anything at present.</p>`;
  return html`<ul class="items">${view.acts.map((act) => html`<li class=${act.standing ? "rest" : "warn"} key=${act.act + act.about}>
    <p class="title"><b>${act.act}</b>${act.about && html`<span>of ${act.about}</span>`}${act.revision > 0 && html`<span>to revision ${act.revision}</span>`}
      <span class="badge ${act.standing ? "rest" : "warn"}">${act.ended ? "ended" : act.standing ? "stands" : "does not count"}</span></p>
    <p>${act.by ? `by ${act.by} since ${moment(act.at)}` : ""}${act.reason && `: ${act.reason}`}</p>
    <p>${ends(act)}</p>
    ${act.why && html`<p>${act.why}</p>`}
    ${act.unproved && html`<p class="soft">Who it was is unproved: the admission policy capstan-acts is missing.</p>`}
    ${act.undo && html`<${Command} text=${act.undo}/>`}
  </li>`)}</ul>`;
}

function ends(act) {
  if (act.until) return html`Ends <b class="time">${until(act.until, state.now)}</b> <span class="soft">at ${moment(act.until)}</span>`;
  return act.revision > 0 ? "Ends when the list of images changes." : "Time alone does not end it.";
}

export function Commands({ view }) {
  return html`<ul class="items">${view.commands.map((one) => html`<li key=${one.command}><p>${one.what}</p><${Command} text=${one.command}/></li>`)}</ul>`;
}
