// The diagram of a machine: its states and lines as SVG, with the live state, the way here and the ways out. One state is in
// the order of Tab; the arrow keys go to the others. What is pointed at or has the focus is told below.
import { Component, html } from "./html.js";
import { beside, layout } from "./layout.js";

const layouts = new Map();

function laidOut(table) {
  if (!layouts.has(table.machine)) layouts.set(table.machine, layout(table));
  return layouts.get(table.machine);
}

export const kind = (state) => (state?.alarm ? "alarm" : state?.rest ? "rest" : "work");

/** CameBy is how many of the last moves are marked as the way here. */
export const cameBy = 4;

const heads = ["plain", "came", "next", "near"];

/** Diagram draws a table with where an instance of it stands: state, transitions and moves as the server tells them. */
export class Diagram extends Component {
  constructor() {
    super();
    this.state = { at: "", shown: "" };
  }

  /** The state that is in the order of Tab. */
  get here() {
    return this.state.at || this.props.current || this.props.table.states[0].name;
  }

  key = (event) => {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const drawing = event.currentTarget, next = beside(laidOut(this.props.table).nodes, this.here, event.key);
    this.setState({ at: next, shown: next }, () => drawing.querySelector(`[data-state="${next}"]`).focus());
  };

  render({ table, current, transitions = [], moves = [], counts = {} }, { shown }) {
    const { width, height, nodes, lines } = laidOut(table);
    const came = new Set(transitions.slice(-cameBy).map((t) => t.from + ">" + t.to));
    const numbers = new Map();
    moves.forEach((move, i) => {
      const key = current + ">" + move.to;
      numbers.set(key, [...(numbers.get(key) ?? []), i + 1]);
    });
    const role = (line) => {
      if (shown && (line.from === shown || line.to === shown)) return "near";
      return numbers.has(line.key) ? "next" : came.has(line.key) ? "came" : "plain";
    };
    const drawn = lines.map((line) => ({ ...line, role: role(line) })).sort((a, b) => heads.indexOf(a.role) - heads.indexOf(b.role));
    return html`<figure class="diagram">
      <svg viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="group" aria-label="States of the machine ${table.machine}" onKeyDown=${this.key}>
        <defs>${heads.map((head) => html`<marker id="head-${head}" class=${head} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>`)}</defs>
        ${drawn.map((line) => html`<g class="line ${line.role}" key=${line.key}>
          <path d=${line.path} marker-end="url(#head-${line.role})"/><title>${line.from} to ${line.to}: ${line.moves.map((move) => move.event).join(", ")}</title>
        </g>`)}
        ${drawn.filter((line) => numbers.has(line.key)).map((line) => html`<${Label} key=${"n" + line.key} line=${line} text=${numbers.get(line.key).join(",")}/>`)}
        ${nodes.map((node) => this.node(node, current, counts))}
      </svg>
      <figcaption>${this.caption(table, shown || current)}</figcaption>
    </figure>`;
  }

  node({ state, x, y, width, height }, current, counts) {
    const name = state.name, live = name === current, many = counts[name];
    const show = () => this.setState({ shown: name });
    return html`<g class="node ${kind(state)} ${live ? "live" : ""}" key=${name} data-state=${name} tabindex=${name === this.here ? 0 : -1} role="img"
        aria-label="${name}${live ? ", the present state" : ""}${many ? `, ${many} are in it` : ""}: ${state.doc}" aria-current=${live ? "true" : null}
        onFocus=${() => this.setState({ at: name, shown: name })} onBlur=${() => this.setState({ shown: "" })} onMouseEnter=${show} onMouseLeave=${() => this.setState({ shown: "" })}>
      <rect x=${x - width / 2} y=${y - height / 2} width=${width} height=${height} rx="7"/>
      <text x=${x} y=${y + 4.5} text-anchor="middle">${name}</text>
      ${many > 0 && html`<g class="many"><rect x=${x + width / 2 - 12 - 4 * `${many}`.length} y=${y - height / 2 - 9} width=${14 + 7 * `${many}`.length} height="17" rx="8.5"/>
        <text x=${x + width / 2 - 5 - 0.5 * `${many}`.length} y=${y - height / 2 + 3.5} text-anchor="middle">${many}</text></g>`}
    </g>`;
  }

  caption(table, name) {
    const state = table.states.find((one) => one.name === name);
    if (!state) return html`<p class="soft">${table.doc}</p>`;
    return html`<p><b>${name}</b> ${state.doc}</p>${state.work && html`<p class="soft">On every pass ${state.work}</p>`}`;
  }
}

const Label = ({ line, text }) => {
  const wide = 10 + 7 * text.length;
  return html`<g class="number"><rect x=${line.label.x - wide / 2} y=${line.label.y - 9} width=${wide} height="18" rx="9"/>
    <text x=${line.label.x} y=${line.label.y + 4} text-anchor="middle">${text}</text></g>`;
};
