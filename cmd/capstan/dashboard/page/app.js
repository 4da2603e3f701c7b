// The page as a whole: contexts, machines, and the sections of the one that is chosen.
import { html } from "./html.js";
import { familyOf, here, machineOf } from "./data.js";
import { Acts, Commands, Look, looks } from "./look.js";
import { badgeOf, Machine } from "./machine.js";
import { Family, Objects } from "./many.js";
import { History } from "./past.js";
import { Plan } from "./plan.js";
import { Conditions, Waves } from "./rollout.js";
import { Prose } from "./copy.js";
import { change, state } from "./store.js";
import { ago, moment } from "./words.js";

export function App() {
  if (state.login) return html`<${Login} login=${state.login}/>`;
  const context = here();
  return html`<a class="skip" href="#main">To the content</a>
    <${Top} context=${context}/>
    <main id="main" tabindex="-1">
      ${context ? html`<${Context} context=${context} key=${context.id}/>` : html`<p class="wait">Reading the contexts.</p>`}
    </main>
    <div class="unseen" role="status" aria-live="polite">${state.said}</div>`;
}

function Login({ login }) {
  return html`<main class="card login"><h1>There is no session</h1><p role="alert"><${Prose} text=${login.what}/></p><p><${Prose} text=${login.next}/></p>
    <p class="soft">The address works for the browser that opens it first, and the session ends with the command.</p></main>`;
}

/** First is the machine that a context is told by: the one whose cluster it is about. */
const first = (context) => context.view?.machines[0];

function Top({ context }) {
  const all = [...state.contexts.values()];
  return html`<header class="top">
    <h1><img src="icon.svg" alt=""/>Capstan</h1>
    <nav class="contexts" aria-label="Contexts">${all.map((one) => html`<button key=${one.id} aria-pressed=${one.id === state.context} title=${one.server} onClick=${() => change({ context: one.id })}>
      <span>${one.name}</span><${Standing} one=${one}/></button>`)}</nav>
    ${context && html`<span class="live"><${Live} context=${context}/></span>`}
  </header>`;
}

function Standing({ one }) {
  const told = first(one), table = state.tables.get(told?.machine);
  if (one.trouble) return html`<span class="badge alarm">trouble</span>`;
  if (!told) return html`<span class="badge">reading</span>`;
  return html`<span class="badge ${told.attention === "look" ? "alarm" : badgeOf(table, told.state)}">${told.state || "not known"}</span>`;
}

function Live({ context }) {
  const { view, trouble } = context;
  if (trouble) return html`<span class="dot off"></span> ${view ? `old: seen ${ago(view.at, state.now)} ago` : "nothing was seen yet"}`;
  if (!view) return html`<span class="dot"></span> reading`;
  return html`<span class="dot on"></span> ${view.how === "watch" ? "live" : "live, by asking again and again"}${view.release && `, release ${view.release}`}, changed <span class="time" title=${moment(view.at)}>${ago(view.at, state.now)} ago</span>`;
}

function Context({ context }) {
  const { view, trouble } = context;
  return html`${trouble && html`<section class="card trouble" role="alert"><h3>${trouble.message}</h3>${trouble.next && html`<p><${Prose} text=${trouble.next}/></p>`}
      ${trouble.retryIn && html`<p>It is tried again after ${trouble.retryIn}.${view && " What is below is old."}</p>`}</section>`}
    ${view ? html`<${Cluster} context=${context} view=${view}/>` : !trouble && html`<p class="wait" role="status">Reading ${context.name}.</p>`}`;
}

function Cluster({ context, view }) {
  const table = state.tables.get(state.machine);
  return html`<nav class="machines" aria-label="Machines">${[...state.tables.values()].map((one) => html`<${Choice} table=${one} view=${view}/>`)}</nav>
    ${table.family ? html`<${Family} key=${table.machine} context=${context.id} table=${table} family=${familyOf(view, table.machine)} version=${view.at}/>`
      : html`<${Machine} key=${table.machine} table=${table} one=${machineOf(view, table.machine)} title="Machine ${table.machine}">
        <${Sections} context=${context} view=${view}/>
      <//>`}`;
}

function Choice({ table, view }) {
  const family = familyOf(view, table.machine), one = machineOf(view, table.machine);
  const badge = table.family
    ? html`<span class="badge ${family?.alarms ? "alarm" : ""}">${family?.total ?? 0}</span>`
    : html`<span class="badge ${one?.attention === "look" ? "alarm" : badgeOf(table, one?.state)}">${one?.state || "not known"}</span>`;
  return html`<button aria-pressed=${table.machine === state.machine} title=${table.doc} onClick=${() => change({ machine: table.machine })}>${table.machine}${badge}</button>`;
}

const sections = [
  ["Waves", ({ view }) => html`<${Waves} view=${view}/>`],
  ["Look", ({ view }) => html`<${Look} view=${view}/>`, (view) => looks(view)],
  ["Acts", ({ view }) => html`<${Acts} view=${view}/>`, (view) => view.acts.length],
  ["Plan", ({ context }) => html`<${Plan} context=${context}/>`],
  ["History", ({ context, view }) => html`<${History} context=${context.id} version=${view.revisions.map((one) => one.name + one.current).join()}/>`],
  ["Objects", ({ context, view }) => html`<${Objects} context=${context.id} version=${view.at}/>`],
  ["Conditions", ({ view }) => html`<${Conditions} view=${view}/>`, (view) => view.unread.length],
  ["Commands", ({ view }) => html`<${Commands} view=${view}/>`],
];

function Sections({ context, view }) {
  const [name, draw] = sections.find(([one]) => one === state.tab);
  const key = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const i = (sections.findIndex(([one]) => one === name) + step + sections.length) % sections.length;
    change({ tab: sections[i][0] });
    event.currentTarget.children[i].focus();
  };
  return html`<section class="card">
    <div class="tabs" role="tablist" aria-label="Sections" onKeyDown=${key}>${sections.map(([one, , many]) => {
      const n = many?.(view);
      return html`<button role="tab" id="tab-${one}" aria-selected=${one === name} aria-controls="panel" tabindex=${one === name ? 0 : -1} onClick=${() => change({ tab: one })}>${one}${n > 0 && html`<span class="badge warn">${n}</span>`}</button>`;
    })}</div>
    <div id="panel" class="panel" role="tabpanel" aria-labelledby="tab-${name}" key=${name}>${draw({ context, view })}</div>
  </section>`;
}
