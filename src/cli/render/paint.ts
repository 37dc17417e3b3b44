import { Chalk } from "chalk";
import type { Tone } from "./human.ts";

export interface Paint {
  readonly tone: (text: string, tone: Tone) => string;
  readonly heading: (text: string) => string;
}

const COLOURS = { good: "green", middling: "yellow", bad: "red" } as const;

/** The same text without colour when there is to be none. */
export function createPaint(color: boolean): Paint {
  const chalk = new Chalk({ level: color ? 1 : 0 });
  return {
    tone: (text, tone) => (tone === "plain" ? text : chalk[COLOURS[tone]](text)),
    heading: (text) => chalk.bold(text),
  };
}
