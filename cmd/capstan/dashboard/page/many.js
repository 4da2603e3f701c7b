// Families and objects: counts, a search, and a list of which only what is seen is in the page.
import { Component, html } from "./html.js";
import { badgeOf, Machine } from "./machine.js";
import { List } from "./list.js";
import { path } from "./data.js";
import { ask } from "./session.js";
import { state } from "./store.js";
import { ago, count } from "./words.js";

/** Family is a machine with an instance for each object of a kind. */
export class Family extends Component {
  constructor() {
    super();
    this.state = { search: "", only: "", key: "", one: null, trouble: null, matching: undefined };
  }

  componentDidUpdate({ version }) {
    if (version !== this.props.version && this.state.key) this.look(this.state.key);
  }

  load = async (offset, limit) => {
    const { context, table } = this.props, { search, only } = this.state;
    const answer = await ask(path(context, "family"), { machine: table.machine, state: only, search, offset, limit });
    return { total: answer.matching, rows: answer.items };
  };

  open = ({ key }) => this.look(key);

  async look(key) {
    const { context, table } = this.props;
    this.setState({ key });
    try {
      const one = await ask(path(context, "instance"), { machine: table.machine, key });
      if (this.state.key === key) this.setState({ one, trouble: null });
    } catch (trouble) {
      if (this.state.key === key) this.setState({ one: null, trouble });
    }
  }

  row = (item) => html`<span title=${item.key}>${item.key}</span><span class="badge ${badgeOf(this.props.table, item.state)}">${item.state}</span>
    <span class="soft" title=${item.reason}>${item.since && `${ago(item.since, state.now)} `}${item.reason}</span>`;

  render({ table, family, version }, { search, only, key, one, trouble, matching }) {
    const counts = family?.counts ?? {};
    return html`<${Machine} table=${table} one=${one} counts=${one ? undefined : counts} title=${one ? `${table.word} ${key}` : table.word}>
      <section class="card" aria-label="All of ${table.machine}">
        <h2>${count(family?.total ?? 0, "instance")}${matching !== undefined && matching !== family?.total ? `, ${matching} of them match` : ""}</h2>
        ${family?.problem && html`<p>${family.problem}</p>`}${trouble && html`<p role="alert">${trouble.message} <span class="soft">${trouble.next}</span></p>`}
        ${family?.unnamed > 0 && html`<p class="soft">${count(family.unnamed, "instance")} of these ${family.unnamed === 1 ? "is" : "are"} told as a number only.</p>`}
        <div class="finder">
          <input type="search" placeholder="Search keys and reasons" aria-label="Search ${table.machine}" maxlength="200" value=${search} onInput=${(event) => this.setState({ search: event.target.value })}/>
          <div class="counts" role="group" aria-label="States">${["", ...table.states.map((s) => s.name).filter((name) => counts[name])].map((name) => html`
            <button key=${name} aria-pressed=${only === name} onClick=${() => this.setState({ only: name })}>${name || "All"}<b>${name ? counts[name] : (family?.total ?? 0)}</b></button>`)}</div>
        </div>
        <${List} columns="family" label="Instances of ${table.machine}" question=${only + "\n" + search} version=${version} load=${this.load} draw=${this.row} open=${this.open}
          counted=${(n) => n !== this.state.matching && this.setState({ matching: n })} none=${search || only ? "None match." : "There are none."}/>
      </section>
    <//>`;
  }
}

/** Objects are what revisions list. */
export class Objects extends Component {
  constructor() {
    super();
    this.state = { search: "", matching: undefined, problem: "" };
  }

  load = async (offset, limit) => {
    const answer = await ask(path(this.props.context, "objects"), { search: this.state.search, offset, limit });
    if (answer.problem !== this.state.problem) this.setState({ problem: answer.problem });
    return { total: answer.matching, rows: answer.items };
  };

  row = (item) => html`<span class="soft time">${item.revision} / ${item.wave || "-"}</span><span title=${item.object}>${item.object}</span>
    <span class="soft">${item.component} ${item.retained && html`<span class="badge warn">retained</span>`}</span>`;

  render({ version }, { search, matching, problem }) {
    return html`<div class="finder">
        <input type="search" placeholder="Search objects" aria-label="Search objects" maxlength="200" value=${search} onInput=${(event) => this.setState({ search: event.target.value })}/>
        <span class="soft">${matching === undefined ? "" : count(matching, "object")}, by revision and wave</span>
      </div>
      ${problem && html`<p>${problem}</p>`}
      <${List} columns="objects" label="Objects" question=${search} version=${version} load=${this.load} draw=${this.row}
        counted=${(n) => n !== this.state.matching && this.setState({ matching: n })} none=${search ? "None match." : "No revision lists an object."}/>`;
  }
}
