// One instance of a machine: where it stands, what can happen next and when, and how it came here.
import { html } from "./html.js";
import { Prose } from "./copy.js";
import { cameBy, Diagram, kind } from "./diagram.js";
import { state } from "./store.js";
import { ago, lasted, moment, until } from "./words.js";

/** BadgeOf is the class of a state's badge; one that is not known has none. */
export const badgeOf = (table, name) => (name ? kind(table?.states.find((one) => one.name === name)) : "");

/** Machine draws an instance, which is a machine of a view or one of a family; children come below the diagram. */
export function Machine({ table, one, counts, title, children }) {
  const moves = ordered(one?.moves ?? []);
  return html`<div class="machine">
    <section class="card" aria-label="Diagram">
      <${Diagram} table=${table} current=${one?.state} transitions=${one?.history} moves=${moves} counts=${counts}/>
      <${Legend} here=${one?.state} counts=${counts}/>
    </section>
    <div class="aside">
      ${one && html`<${Head} table=${table} one=${one} title=${title}/><${Next} table=${table} one=${one} moves=${moves}/><${Came} one=${one}/>`}
      ${!one && html`<section class="card"><h2>${title}</h2><p>${table.doc}</p><p class="soft">Choose an instance to see where it stands.</p></section>`}
    </div>
    ${children}
  </div>`;
}

function Legend({ here, counts }) {
  const stroke = (role) => html`<svg viewBox="0 0 26 8" aria-hidden="true"><g class="line ${role}"><path d="M0 4L26 4"/></g></svg>`;
  if (!here) return counts && html`<p class="legend">A number at a state is how many are in it.</p>`;
  return html`<p class="legend"><span>${stroke("came")}the last ${cameBy} moves that led here</span><span>${stroke("next")}what can happen next, by number</span></p>`;
}

function Head({ table, one, title }) {
  const now = state.now;
  return html`<section class="card head" aria-label="State">
    <h2>${title}</h2>
    <p class="line1"><span class="state ${badgeOf(table, one.state)}">${one.state || "Not known"}</span>
      ${one.attention === "look" && html`<span class="badge alarm">needs a look</span>`}
      ${one.since && html`<span class="soft time" title=${moment(one.since)}>for ${ago(one.since, now)}</span>`}</p>
    ${one.problem && html`<p class="says"><${Prose} text=${one.problem}/></p>`}
    ${one.waits && html`<p class="says">${one.waits}</p>`}
    <dl>
      ${one.since && html`<dt>Since</dt><dd class="time">${moment(one.since)}</dd>`}
      ${one.deadline && html`<dt>Deadline</dt><dd><b>${one.deadline.to}</b> ${until(one.deadline.at, now)} <span class="soft">(${one.deadline.on} at ${moment(one.deadline.at)})</span></dd>`}
      ${one.failure && html`<dt>Failing</dt><dd>since ${moment(one.failure.since)} (${ago(one.failure.since, now)})${one.failure.terminal && ", terminal: tried again every 10 minutes, and when an input changes"}
        ${!(one.waits ?? "").includes(one.failure.message) && html`<p>${one.failure.message}</p>`}</dd>`}
    </dl>
  </section>`;
}

/** Ordered are the moves that can be made first, then those that time makes, the soonest first. */
function ordered(moves) {
  const rank = (move) => (move.answer === "Yes" ? 0 : move.at ? Date.parse(move.at) : Infinity);
  return [...moves].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

const answers = { Yes: "rest", No: "", Unknown: "warn" };

function Next({ table, one, moves }) {
  return html`<section class="card" aria-label="What can happen next"><h2>What can happen next</h2>
    ${one.untold && html`<p class="soft">${one.untold}</p>`}
    ${!moves.length && html`<p class="none">Nothing is known.</p>`}
    <ol class="steps">${moves.map((move, i) => html`<li key=${move.event}>
      <span>${i + 1}</span>
      <div>
        <p class="line1"><b>${move.event}</b> leads to <span class="badge ${badgeOf(table, move.to)}">${move.to}</span>${" "}
          ${move.at && html`<b class="time" title=${moment(move.at)}>${until(move.at, state.now)}</b>`}${" "}
          ${move.answer && html`<span class="badge ${answers[move.answer]}">${move.answer}</span>`}</p>
        ${move.why && html`<p class="soft">${move.why}</p>`}
      </div>
      <details><summary>What it asks<span class="unseen"> before ${move.event}</span></summary>
        <p>${move.meaning}</p>
        <dl><dt>when</dt><dd>${move.when}</dd>
          ${move.questions.map((asked) => html`<dt>${asked.guard}</dt><dd>${asked.meaning}</dd>`)}
          ${move.effect && html`<dt>then</dt><dd>${move.effect}</dd>`}</dl>
      </details>
    </li>`)}</ol>
  </section>`;
}

function Came({ one }) {
  const moves = one.history.slice(-10).reverse();
  return html`<section class="card" aria-label="How it came here"><h2>How it came here</h2>
    ${!moves.length && html`<p class="none">No move has been told.</p>`}
    <ol class="came-list">${moves.map((move) => html`<li key=${move.at + move.event}>
      <span class="soft time">${moment(move.at)}</span><span>${move.from} to <b>${move.to}</b> by ${move.event} after ${lasted(move.seconds * 1000)}</span>
      ${move.cause && html`<p class="soft">${move.cause}</p>`}
    </li>`)}</ol>
  </section>`;
}
