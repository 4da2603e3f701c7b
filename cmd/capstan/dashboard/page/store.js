// What the page knows, in one place; whoever changes it has the page drawn anew, once for a frame.

export const state = {
  now: Date.now(),
  /** Login is what to tell whoever has no session any more: {what, next}. */
  login: null,
  /** The contexts by name, in the order in which the server lists them. */
  contexts: new Map(),
  context: "",
  machine: "",
  tab: "Waves",
  /** The tables of the machines by name. */
  tables: new Map(),
  /** The last thing that a reader of the screen is to be told. */
  said: "",
};

let draw = () => {};
let asked = false;

/** Drawn sets what draws the page. */
export function drawn(by) {
  draw = by;
}

/** Change applies a change and has the page drawn. */
export function change(what) {
  if (typeof what === "function") what(state);
  else Object.assign(state, what);
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    draw();
  });
}

/** Say tells those who do not see the page. */
export const say = (text) => change({ said: text });
