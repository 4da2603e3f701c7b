// A command to copy: the page runs none.
import { Component, html } from "./html.js";
import { say } from "./store.js";

export class Command extends Component {
  /** Where a browser lets no page write to its clipboard, the command is selected. */
  copy = async (event) => {
    const code = event.currentTarget.previousElementSibling;
    let done = "Copied";
    try {
      await navigator.clipboard.writeText(this.props.text);
    } catch {
      getSelection().selectAllChildren(code);
      done = "Selected";
    }
    this.setState({ done });
    say(`${done}: ${this.props.text}`);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.setState({ done: "" }), 2000);
  };

  componentWillUnmount() {
    clearTimeout(this.timer);
  }

  render({ text }, { done }) {
    return html`<div class="command"><code>${text}</code><button onClick=${this.copy} aria-label="Copy: ${text}">${done || "Copy"}</button></div>`;
  }
}

/** Prose is text in which what stands between backquotes is set as code. */
export const Prose = ({ text = "" }) => text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
