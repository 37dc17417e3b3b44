/** The one line of a terminal that is redrawn. Progress and waits share it. */
import { systemClock } from "../../runtime/clock.ts";
import type { GlobalOptions } from "../args/global-options.ts";
import type { Output } from "../streams/streams.ts";

export interface LiveLine {
  show(text: string): void;
  end(): void;
}

const FRAMES = Array.from("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏");
const ASCII_FRAMES = Array.from("-\\|/");
const FRAME_MS = 80;

const CLEAR = "\u001b[1G\u001b[0K";
const [CYAN, NO_COLOR] = ["\u001b[36m", "\u001b[39m"];
/** Without wrapping, the terminal cuts a long text at its edge. */
const [NO_WRAP, WRAP] = ["\u001b[?7l", "\u001b[?7h"];

interface Spinner {
  readonly texts: Map<symbol, string>;
  /** Starts to draw if there is a text, and clears the line if there is none. */
  refresh(): void;
}

const SPINNERS = new WeakMap<Output, Spinner>();

export function openLiveLine(err: Output, options: Pick<GlobalOptions, "color" | "unicode">): LiveLine {
  const spinner = SPINNERS.get(err) ?? createSpinner(err, options);
  SPINNERS.set(err, spinner);
  const own = Symbol("line");
  return {
    show(text) {
      spinner.texts.set(own, text);
      spinner.refresh();
    },
    end() {
      spinner.texts.delete(own);
      spinner.refresh();
    },
  };
}

function createSpinner(err: Output, { color, unicode }: Pick<GlobalOptions, "color" | "unicode">): Spinner {
  const texts = new Map<symbol, string>();
  const frames = unicode ? FRAMES : ASCII_FRAMES;
  let spinning: AbortController | null = null;
  // As bytes, since control sequences in text are escaped.
  const write = (text: string): void => void err.write(Buffer.from(text));
  const draw = (frame: number): void => {
    const mark = frames[frame % frames.length] ?? "";
    const line = `${color ? CYAN + mark + NO_COLOR : mark} ${[...texts.values()].join(" · ")}`;
    write(CLEAR + NO_WRAP + line + WRAP);
  };
  return {
    texts,
    refresh() {
      if (texts.size > 0 && spinning === null) {
        spinning = new AbortController();
        void spin(draw, spinning.signal);
      }
      if (texts.size > 0 || spinning === null) return;
      spinning.abort();
      spinning = null;
      write(CLEAR);
    },
  };
}

async function spin(draw: (frame: number) => void, signal: AbortSignal): Promise<void> {
  for (let frame = 0; !signal.aborted; frame += 1) {
    draw(frame);
    await systemClock.sleep(FRAME_MS, signal).catch(() => undefined);
  }
}
