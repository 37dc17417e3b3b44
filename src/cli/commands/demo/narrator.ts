/** The voice of the demo: headings, sentences and the commands it runs, all on stdout, 80 columns wide. */
import type { Deps } from "../../kit/deps.ts";
import { CancelledError } from "../../errors/usage-error.ts";
import { createPaint } from "../../render/human.ts";
import { toShellWord } from "../../render/safe-text.ts";

export interface Narrator {
  /** The next numbered step; waits for Enter before each but the first where `pause` is set. */
  step(title: string): Promise<void>;
  /** Lines of text, indented. */
  say(...lines: readonly string[]): Promise<void>;
  /** `surveyctl <words>` as the user would type it; what it prints follows. */
  command(words: readonly string[]): Promise<void>;
}

export function createNarrator({ streams, options }: Pick<Deps, "streams" | "options">, pause: boolean): Narrator {
  const paint = createPaint(options.color);
  const state = { steps: 0, pause: pause && streams.in.isTTY && streams.out.isTTY && streams.err.isTTY };
  const wait = async (): Promise<void> => {
    try {
      await streams.in.ask("\nPress Enter to continue ");
    } catch (error) {
      // The input has ended: Enter will never come.
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
