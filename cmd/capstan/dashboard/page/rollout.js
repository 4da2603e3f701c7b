// What a cluster is being brought to: revisions with their waves, images, and what conditions say.
import { html } from "./html.js";
import { state } from "./store.js";
import { ago, count, moment } from "./words.js";

export function Waves({ view }) {
  const some = view.revisions.filter((revision) => revision.desired || revision.current || revision.waves.length);
  return html`<div class="panel">
    ${!some.length && html`<p class="none">No revision is listed.</p>`}
    ${some.reverse().map((revision) => html`<section key=${revision.name}>
      <h3>Revision ${revision.number} <code>${revision.name}</code> ${revision.desired && html`<span class="badge work">desired</span>`} ${revision.current && html`<span class="badge rest">installed</span>`}</h3>
      ${revision.waves.length ? html`<ol class="waves">${revision.waves.map((wave) => html`<${Wave} wave=${wave} of=${revision.waves.length}/>`)}</ol>`
        : html`<p class="soft">It has no waves under way.</p>`}
    </section>`)}
    ${view.images.length > 0 && html`<section><h3>Images</h3><table>
      <thead><tr><th scope="col">Component</th><th scope="col">State</th><th scope="col">Image</th></tr></thead>
      <tbody>${view.images.map((image) => html`<tr><td>${image.component || "-"}</td><td><span class="badge ${imageClass(image.state)}">${image.state}</span></td><td><code>${image.reference}</code>
        ${image.message && html`<p class="soft">${image.message}</p>`}</td></tr>`)}</tbody></table></section>`}
  </div>`;
}

const imageClass = (is) => ({ Ready: "rest", NotNeeded: "" })[is] ?? "warn";

function Wave({ wave, of }) {
  const done = wave.done === wave.total;
  return html`<li><span class="time">wave ${wave.number}/${of}</span>
    <progress class=${done ? "done" : ""} max=${wave.total || 1} value=${wave.total ? wave.done : 1} aria-label="Wave ${wave.number}"></progress>
    <span class="time">${wave.done}/${wave.total}</span><span>${wave.name} <span class="soft">of ${wave.component}</span></span></li>`;
}

export function Conditions({ view }) {
  return html`<table>
    <thead><tr><th scope="col">Condition</th><th scope="col">Status</th><th scope="col">For</th><th scope="col">Reason</th><th scope="col">Message</th></tr></thead>
    <tbody>${view.conditions.map((one) => html`<tr key=${one.type}><td>${one.type}</td><td>${one.status}</td><td class="time" title=${moment(one.since)}>${ago(one.since, state.now)}</td>
      <td>${one.reason}</td><td>${one.message}</td></tr>`)}</tbody></table>
    ${!view.conditions.length && html`<p class="none">There are none.</p>`}
    ${view.unread.length > 0 && html`<h3>${count(view.unread.length, "thing")} could not be read</h3><ul class="items">${view.unread.map((one) => html`<li class="warn"><p><b>${one.what}</b> ${one.why}</p><p class="soft">${one.next}</p></li>`)}</ul>`}`;
}
