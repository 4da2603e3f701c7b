// The plan, made on demand: it asks the cluster what would be written, and writes nothing.
import { html } from "./html.js";
import { path } from "./data.js";
import { send } from "./session.js";
import { change, say } from "./store.js";
import { count, moment } from "./words.js";

const most = 150, mostFields = 12;
/** Verdicts that change nothing that people see. */
const quiet = ["leave", "mark"];

/** Plan is kept with its context, so that one that takes minutes goes on while something else is looked at. */
export function Plan({ context }) {
  const { made, busy, trouble, cancel } = context.plan ?? {};
  return html`<div class="panel">
    <p><button onClick=${() => make(context)} disabled=${busy}>${made ? "Make the plan anew" : "Make a plan"}</button> ${busy && html`<button onClick=${() => cancel.abort()}>Cancel</button>`}
      <span class="soft"> ${busy ? "Asking the cluster; this may take minutes." : "What the present inputs would change, by trials that write nothing."}</span></p>
    ${trouble && html`<p role="alert">${trouble.message} <span class="soft">${trouble.next}</span></p>`}
    ${made && html`<${Made} plan=${made}/>`}
  </div>`;
}

async function make(context) {
  const cancel = new AbortController();
  const put = (plan) => change(() => Object.assign(context, { plan }));
  const before = context.plan?.made;
  put({ made: before, busy: true, cancel });
  try {
    put({ made: await send(path(context.id, "plan"), {}, { signal: cancel.signal }) });
    say("The plan is made.");
  } catch (trouble) {
    put({ made: before, trouble: trouble.name === "AbortError" ? null : trouble });
  }
}

function Made({ plan }) {
  const changes = plan.waves.flatMap((wave) => wave.objects.filter((one) => !quiet.includes(one.verdict)).map((one) => ({ ...one, wave })));
  const all = [...changes, ...plan.removals.map((one) => ({ ...one, wave: null }))];
  return html`<p>From <code>${plan.from?.name ?? "nothing"}</code> to <code>${plan.to?.name ?? "nothing"}</code> <span class="soft">as of ${moment(plan.at)}${plan.as && `, with the rights of ${plan.as.operator ? "the operator" : plan.as.user}`}</span></p>
    <p class="counts">${Object.entries(plan.counts).map(([verdict, n]) => html`<span class="badge">${verdict} ${n}</span>`)}</p>
    ${plan.stops.length > 0 && html`<section><h3>What stops it</h3><ul class="items">${plan.stops.map((stop) => html`<li class="alarm"><p><b>${stop.what}</b> ${stop.object && named(stop.object)} ${stop.why}</p><p class="soft">${stop.next}</p></li>`)}</ul></section>`}
    ${all.length === 0 && html`<p class="none">No object would be changed.</p>`}
    <ul class="items">${all.slice(0, most).map((one) => html`<li key=${named(one.object)} class=${one.wave ? "" : "alarm"}>
      <p class="title"><span class="badge ${one.wave ? "work" : "alarm"}">${one.verdict}</span><b>${named(one.object)}</b>
        <span class="soft">${one.wave ? `wave ${one.wave.number}, ${one.wave.class} of ${one.wave.component}` : "when all is applied"}, ${one.how}</span></p>
      ${one.why && html`<p>${one.why}</p>`}${one.holds && html`<p class="soft">It holds ${one.holds}.</p>`}
      ${one.fields.length > 0 && html`<details><summary>${count(one.fields.length, "field")}<span class="unseen"> of ${named(one.object)}</span></summary><${Fields} fields=${one.fields}/></details>`}
    </li>`)}</ul>
    ${all.length > most && html`<p class="soft">${all.length - most} more are not shown here: <code>capstan plan</code> tells all.</p>`}
    ${plan.limits.map((limit) => html`<p class="soft">${limit}</p>`)}`;
}

function Fields({ fields }) {
  return html`<table class="fields"><tbody>${fields.slice(0, mostFields).map((field) => html`<tr><td>${field.path}</td><td class="from">${value(field.from)}</td><td class="to">${value(field.to)}</td></tr>`)}</tbody></table>
    ${fields.length > mostFields && html`<p class="soft">${count(fields.length - mostFields, "more field")}</p>`}`;
}

function value(of) {
  const text = of === undefined ? "" : typeof of === "string" ? of : JSON.stringify(of);
  return text.length > 300 ? text.slice(0, 300) + "…" : text;
}

const named = (ref) => `${ref.kind} ${ref.namespace ? ref.namespace + "/" : ""}${ref.name}`;
