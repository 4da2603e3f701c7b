// What a context tells as it happens: lines of JSON, read as they come. A stream that ends, or falls silent, is
// opened anew; until then what it told last stays, with the word that it is old.
import { open, Trouble } from "./session.js";

const silence = 45_000;
const waits = [500, 1000, 2000, 5000, 10_000];

/** Follow hands each line of a stream to take, and to lost why there are none, until the signal ends it. */
export async function follow(path, take, lost, signal) {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await read(path, (line) => {
        tries = 0;
        take(line);
      }, signal);
      lost(null);
    } catch (error) {
      if (signal.aborted) return;
      lost(error);
    }
    await pause(waits[Math.min(tries, waits.length - 1)], signal);
  }
}

async function read(path, take, signal) {
  const end = new AbortController();
  const stop = () => end.abort();
  signal.addEventListener("abort", stop, { once: true });
  let silent = false;
  const fellSilent = () => {
    silent = true;
    stop();
  };
  let quiet = setTimeout(fellSilent, silence);
  try {
    const body = (await open(path, { signal: end.signal })).body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { done, value } = await body.read();
      if (done) return;
      clearTimeout(quiet);
      quiet = setTimeout(fellSilent, silence);
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line) take(JSON.parse(line));
    }
  } catch (error) {
    throw silent ? new Trouble("Nothing was heard of `capstan dashboard` for 45 seconds.", "Look at the terminal in which it runs.") : error;
  } finally {
    clearTimeout(quiet);
    signal.removeEventListener("abort", stop);
    end.abort();
  }
}

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});
