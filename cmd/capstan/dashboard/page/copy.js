// A command to copy: the page runs none.
import { Component, html } from "./html.js";
import { say } from "./store.js";

export class Command extends Component {
  copy = async () => {
    try {
      await navigator.clipboard.writeText(this.props.text);
      this.setState({ done: "Copied" });
    } catch {
      this.select();
      this.setState({ done: "Selected" });
    }
    say(`${this.state.done}: ${this.props.text}`);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.setState({ done: "" }), 2000);
  };

  /** Where a browser lets no page write to its clipboard, the command is selected. */
  select() {
    getSelection().selectAllChildren(this.base.querySelector("code"));
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
  }

  render({ text }, { done }) {
    return html`<div class="command"><code>${text}</code><button onClick=${this.copy} aria-label="Copy: ${text}">${done || "Copy"}</button></div>`;
  }
}

/** Prose is text in which what stands between backquotes is set as code. */
export const Prose = ({ text = "" }) => text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
