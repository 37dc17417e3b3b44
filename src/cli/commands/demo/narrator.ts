/** Prints the demo's headings, sentences and commands. */
import type { Deps } from "../../kit/deps.ts";
import { CancelledError } from "../../errors/usage-error.ts";
import { createPaint } from "../../render/human.ts";
import { toShellWord } from "../../render/safe-text.ts";

export interface Narrator {
  /** Starts a numbered step, after Enter if `pause` is set. */
  step(title: string): Promise<void>;
  say(...lines: readonly string[]): Promise<void>;
  /** Shows a command line before its output. */
  command(words: readonly string[]): Promise<void>;
}

export function createNarrator({ streams, options }: Pick<Deps, "streams" | "options">, pause: boolean): Narrator {
  const paint = createPaint(options.color);
  const state = { steps: 0, pause: pause && streams.in.isTTY && streams.out.isTTY && streams.err.isTTY };
  const wait = async (): Promise<void> => {
    try {
      await streams.in.ask("\nPress Enter to continue ");
    } catch (error) {
      // The input has ended, so nobody will press Enter.
      if (!(error instanceof CancelledError)) throw error;
      state.pause = false;
    }
  };
  return {
    async step(title) {
      if (state.pause && state.steps > 0) await wait();
      state.steps += 1;
      await streams.out.write(`\n${paint.heading(`${state.steps}. ${title}`)}\n`);
    },
    say: (...lines) => streams.out.write(lines.map((line) => `${line}\n`).join("")),
    command: (words) => streams.out.write(`\n$ ${paint.heading(["surveyctl", ...words].map(toShellWord).join(" "))}\n`),
  };
}
