import { Chalk } from "chalk";
import type { Tone } from "./human.ts";

export interface Paint {
  readonly tone: (text: string, tone: Tone) => string;
  readonly heading: (text: string) => string;
}

/** The same text without colour when there is to be none. */
export function createPaint(color: boolean): Paint {
  const chalk = new Chalk({ level: color ? 1 : 0 });
  const tones: Record<Tone, (text: string) => string> = { good: chalk.green, middling: chalk.yellow, bad: chalk.red, plain: String };
  return { tone: (text, tone) => tones[tone](text), heading: chalk.bold };
}
