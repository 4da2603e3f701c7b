// A list of any length: only the rows that are seen are in the page, and rows come in pages of a hundred from the server.
// One row has the focus of the list; the arrow keys, Page Up and Down, Home and End move it, Enter opens it.
import { Component, html } from "./html.js";

export const page = 100;
const tall = 30, around = 6;

export class List extends Component {
  constructor() {
    super();
    this.state = { total: 0, top: 0, active: 0, trouble: null, loaded: false };
    this.pages = new Map();
    this.asked = new Set();
    this.round = 0;
  }

  componentDidMount() {
    this.need();
  }

  /** Another question empties the list; a new version of the same answer is taken page by page, so that nothing flickers. */
  componentDidUpdate({ question, version }) {
    if (question !== this.props.question) {
      this.round++;
      this.pages.clear();
      this.asked.clear();
      this.box.scrollTop = 0;
      this.setState({ top: 0, active: 0, loaded: false });
      return;
    }
    if (version !== this.props.version) this.asked.clear();
    this.need();
  }

  hold = (box) => {
    this.box = box;
  };

  get rows() {
    const seen = Math.ceil((this.box?.clientHeight || 480) / tall);
    const first = Math.max(0, Math.floor(this.state.top / tall) - around);
    return { first, last: Math.min(this.state.total, first + seen + 2 * around), seen };
  }

  need() {
    const { first, last } = this.rows;
    for (let one = Math.floor(first / page); one <= Math.floor(Math.max(first, last - 1) / page); one++) {
      if (!this.asked.has(one)) this.load(one);
    }
  }

  async load(one) {
    this.asked.add(one);
    const round = this.round;
    try {
      const { total, rows } = await this.props.load(one * page, page);
      if (round !== this.round) return;
      this.pages.set(one, rows);
      this.setState({ total, loaded: true, trouble: null, active: Math.max(0, Math.min(this.state.active, total - 1)) });
      this.props.counted?.(total);
    } catch (trouble) {
      if (round === this.round) this.setState({ trouble, loaded: true });
    }
  }

  row = (i) => this.pages.get(Math.floor(i / page))?.[i % page];

  move(to) {
    const active = Math.max(0, Math.min(to, this.state.total - 1)), above = active * tall;
    if (above < this.box.scrollTop) this.box.scrollTop = above;
    const room = this.box.clientHeight - tall;
    if (above > this.box.scrollTop + room) this.box.scrollTop = above - room;
    this.setState({ active, top: this.box.scrollTop });
  }

  key = (event) => {
    const { active, total } = this.state, { seen } = this.rows;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + seen, PageUp: active - seen, Home: 0, End: total - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.move(to);
    } else if (event.key === "Enter" && this.row(active)) {
      this.props.open?.(this.row(active));
    }
  };

  render({ label, draw, columns, none = "There are none." }, { total, active, trouble, loaded }) {
    const { first, last } = this.rows;
    const shown = [];
    for (let i = first; i < last; i++) shown.push(this.line(i, draw, active));
    return html`<div class="list ${columns}">
      ${trouble && html`<p class="wait" role="alert">${trouble.message} ${trouble.next}</p>`}
      ${loaded && !trouble && !total && html`<p class="none">${none}</p>`}
      <div class="rows" role="listbox" tabindex="0" aria-label=${label} aria-activedescendant=${total ? `row-${active}` : null} ref=${this.hold}
          hidden=${!total} onScroll=${() => this.setState({ top: this.box.scrollTop })} onKeyDown=${this.key}>
        <div class="space" style=${{ height: first * tall + "px" }}></div>
        ${shown}
        <div class="space" style=${{ height: (total - last) * tall + "px" }}></div>
      </div>
    </div>`;
  }

  line(i, draw, active) {
    const row = this.row(i), here = i === active;
    const choose = () => {
      this.setState({ active: i });
      if (row) this.props.open?.(row);
    };
    return html`<div class="row" role="option" id="row-${i}" key=${i} aria-selected=${here} aria-posinset=${i + 1} aria-setsize=${this.state.total} onClick=${choose}>${row ? draw(row) : "…"}</div>`;
  }
}
