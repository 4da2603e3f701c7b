// How moments, durations and counts are written: as the commands write them.

const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
const two = (n) => String(n).padStart(2, "0");

/** Lasted writes milliseconds for people, who do not read seconds of days. */
export function lasted(ms) {
  ms = Math.max(ms, 0);
  if (ms < minute) return `${Math.floor(ms / second)}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m${two(Math.floor(ms / second) % 60)}s`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h${two(Math.floor(ms / minute) % 60)}m`;
  return `${Math.floor(ms / day)}d${two(Math.floor(ms / hour) % 24)}h`;
}

/** Until is a countdown; a moment that has passed is due, whoever is late. */
export function until(at, now) {
  const left = Date.parse(at) - now;
  return left <= 0 ? "due now" : `in ${lasted(left + second - 1)}`;
}

export const ago = (at, now) => lasted(now - Date.parse(at));

/** Moment is a time in UTC; the empty text for none. */
export function moment(at) {
  const time = Date.parse(at);
  return Number.isNaN(time) || time <= 0 ? "" : new Date(time).toISOString().slice(0, 19).replace("T", " ") + "Z";
}

export const count = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
