// The history of revisions, read when it is asked for.
import { Component, html } from "./html.js";
import { path } from "./data.js";
import { ask } from "./session.js";
import { moment } from "./words.js";

const good = { Installed: "rest", Applying: "work" };

export class History extends Component {
  componentDidMount() {
    this.load();
  }

  componentDidUpdate({ version }) {
    if (version !== this.props.version) this.load();
  }

  async load() {
    try {
      this.setState({ known: await ask(path(this.props.context, "history")), trouble: null });
    } catch (trouble) {
      this.setState({ known: null, trouble });
    }
  }

  render(_, { known, trouble }) {
    if (trouble) return html`<p class="wait" role="alert">${trouble.message} <span class="soft">${trouble.next}</span></p>`;
    if (!known) return html`<p class="wait">Reading the history.</p>`;
    return html`<table>
      <thead><tr>${["Revision", "Release", "Result", "Listed", "Applied", "Ended", "Cause"].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${known.revisions.slice(-30).reverse().map((one) => html`<tr key=${one.number}>
        <td>${one.number}</td><td>${one.release || "-"}</td><td><span class="badge ${good[one.result] ?? ""}">${one.result}</span></td>
        <td class="time">${moment(one.listed) || "-"}</td><td class="time">${moment(one.applied) || "-"}</td><td class="time">${moment(one.ended) || "-"}</td>
        <td>${one.cause || "-"}${one.pin && html`<p class="soft">pinned to ${one.pin.revision} by ${one.pin.by}</p>`}${(one.consents ?? []).map((consent) => html`<p class="soft">consent: ${consent}</p>`)}</td>
      </tr>`)}</tbody></table>
      ${!known.revisions.length && html`<p class="none">No revision was listed yet.</p>`}
      ${known.lost && html`<p class="soft">It was begun at ${moment(known.began)}, when revisions were listed already: what came before was lost, or was not kept.</p>`}`;
  }
}
