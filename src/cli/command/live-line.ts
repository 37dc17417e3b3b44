/** One line on a terminal that is written anew in place, with a spinner. */
import { cursorTo, clearLine, moveCursor } from "node:readline";
import { Writable } from "node:stream";
import type { Output } from "../streams/streams.ts";

export interface LiveLine {
  show(text: string): void;
  /** Takes the line away. */
  end(): void;
}

/** `err` is a terminal. */
export async function openLiveLine(err: Output, color: boolean): Promise<LiveLine> {
  const { default: ora } = await import("ora");
  const spinner = ora({
    stream: toTerminal(err),
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: color ? "cyan" : false,
  });
  return {
    show(text) {
      spinner.text = text;
      if (!spinner.isSpinning) spinner.start();
    },
    end: () => void spinner.stop(),
  };
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
