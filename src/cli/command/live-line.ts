/** One line on a terminal that is written anew in place, with a spinner. */
import { cursorTo, clearLine, moveCursor } from "node:readline";
import { Writable } from "node:stream";
import type { Ora } from "ora";
import type { Output } from "../streams/streams.ts";

export interface LiveLine {
  show(text: string): void;
  /** Takes the line away. */
  end(): void;
}

/** A terminal has one such line, whoever writes to it: progress and waits share it. */
const SHARED = new WeakMap<Output, Promise<SharedLine>>();

interface SharedLine {
  readonly spinner: Ora;
  /** What each part of the program shows, in the order in which they began. */
  readonly texts: Map<symbol, string>;
}

/** `err` is a terminal. */
export async function openLiveLine(err: Output, color: boolean): Promise<LiveLine> {
  const shared = SHARED.get(err) ?? startLine(err, color);
  SHARED.set(err, shared);
  const { spinner, texts } = await shared;
  const own = Symbol("line");
  const refresh = (): void => {
    spinner.text = [...texts.values()].join(" · ");
    if (texts.size === 0) spinner.stop();
    else if (!spinner.isSpinning) spinner.start();
  };
  return {
    show(text) {
      texts.set(own, text);
      refresh();
    },
    end() {
      texts.delete(own);
      refresh();
    },
  };
}

async function startLine(err: Output, color: boolean): Promise<SharedLine> {
  const { default: ora } = await import("ora");
  const spinner = ora({
    stream: toTerminal(err),
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: color ? "cyan" : false,
  });
  return { spinner, texts: new Map() };
}

/** What the spinner takes for a terminal: the methods of one, over our own output. */
function toTerminal(err: Output): NodeJS.WriteStream {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      void err.write(chunk);
      done();
    },
  });
  const methods = {
    isTTY: true,
    columns: err.columns,
    cursorTo: (x: number) => cursorTo(stream, x),
    clearLine: (direction: -1 | 0 | 1) => clearLine(stream, direction),
    moveCursor: (dx: number, dy: number) => moveCursor(stream, dx, dy),
  };
  return Object.assign(stream, methods) as unknown as NodeJS.WriteStream;
}
