// The session: a one-time code in the URL's fragment, which no server and no log ever sees, becomes a token that each
// request carries in a header. The token is kept for this tab, so that a reload does not end the session.
import { change } from "./store.js";

const kept = "capstan-token";
let token = sessionStorage.getItem(kept) ?? "";

/** Trouble is an error that is told as what it is and what to do next. */
export class Trouble extends Error {
  constructor(what, next = "") {
    super(what);
    this.next = next;
  }
}

const again = "Press Enter in the terminal in which `capstan dashboard` runs: it prints a new address. If it has ended, run it again.";

function ended(what, next) {
  token = "";
  sessionStorage.removeItem(kept);
  change({ login: { what, next: next || again } });
}

/** Begin takes the code out of the address; it says whether there is a session. */
export async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname);
    const answer = await fetch("/api/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
    if (answer.ok) {
      token = (await answer.json()).token;
      sessionStorage.setItem(kept, token);
    } else if (!token) {
      const { error, next } = await trouble(answer);
      ended(error, next);
      return false;
    }
  }
  if (!token) ended("This page has no session.");
  return token !== "";
}

async function trouble(answer) {
  const text = await answer.text();
  try {
    const { error, next } = JSON.parse(text);
    return { error: error || text, next };
  } catch {
    return { error: text || `The server answers ${answer.status}.`, next: "" };
  }
}

/** Open sends a request of the session, and gives an answer that is a good one. */
export async function open(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { ...options.headers, "Capstan-Token": token } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("`capstan dashboard` does not answer.", "Look at the terminal in which it runs, and start it again if it has ended.");
  }
  if (answer.ok) return answer;
  const { error, next } = await trouble(answer);
  if (answer.status === 401) ended(error, next);
  throw new Trouble(error, next);
}

/** Ask reads JSON; parameters that are empty are left out. */
export async function ask(path, parameters = {}, options = {}) {
  const some = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined);
  const query = some.length ? "?" + new URLSearchParams(some) : "";
  return (await open(path + query, options)).json();
}

/** Send posts JSON and reads JSON. */
export const send = (path, body, options = {}) =>
  ask(path, {}, { ...options, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
