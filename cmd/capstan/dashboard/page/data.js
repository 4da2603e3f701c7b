// What is read of the server: contexts, tables, and what each context tells as it happens.
import { change, state } from "./store.js";
import { ask } from "./session.js";
import { follow } from "./stream.js";

export const path = (id, what) => `/api/contexts/${encodeURIComponent(id)}/${what}`;

/** Load reads what does not change while the page is open, and begins to follow all contexts, by one stream: browsers open few connections. */
export async function load() {
  const [{ contexts }, { machines }] = await Promise.all([ask("/api/contexts"), ask("/api/diagrams")]);
  change((s) => {
    for (const table of machines) s.tables.set(table.machine, table);
    for (const one of contexts) s.contexts.set(one.id, { ...one, view: null, trouble: null });
    s.context ||= contexts[0]?.id ?? "";
    s.machine ||= machines[0]?.machine ?? "";
  });
  const signal = new AbortController().signal;
  follow("/api/watch", take, lost, signal);
}

function take(line) {
  if (line.type === "view") change((s) => Object.assign(s.contexts.get(line.context), { view: line.view, trouble: null }));
  if (line.type === "trouble") change((s) => { s.contexts.get(line.context).trouble = line; });
}

function lost(error) {
  if (error && !state.login) change((s) => {
    for (const one of s.contexts.values()) one.trouble = { message: error.message, next: error.next };
  });
}

export const here = () => state.contexts.get(state.context);

/** Machine is what a view tells of a machine that has one instance. */
export const machineOf = (view, name) => view?.machines.find((one) => one.machine === name);
export const familyOf = (view, name) => view?.families.find((one) => one.machine === name);
