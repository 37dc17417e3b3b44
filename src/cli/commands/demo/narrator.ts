/** The voice of the demo: headings, sentences and the commands it runs, all on stdout, 80 columns wide. */
import type { Deps } from "../../command/deps.ts";
import { createPaint } from "../../render/human.ts";

export interface Narrator {
  /** The next numbered step. */
  step(title: string): Promise<void>;
  /** Lines of text, indented. */
  say(...lines: readonly string[]): Promise<void>;
  /** A command line as the user would type it; what it prints follows. */
  command(line: string): Promise<void>;
}

export function createNarrator({ streams, options }: Pick<Deps, "streams" | "options">): Narrator {
  const paint = createPaint(options.color);
  let steps = 0;
  return {
    step(title) {
      steps += 1;
      return streams.out.write(`\n${paint.heading(`${steps}. ${title}`)}\n`);
    },
    say: (...lines) => streams.out.write(lines.map((line) => `${line}\n`).join("")),
    command: (line) => streams.out.write(`\n$ ${paint.heading(line)}\n`),
  };
}
