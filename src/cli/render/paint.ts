import { Chalk } from "chalk";
import type { Tone } from "./human.ts";
import { TOKEN } from "./json-indent.ts";

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

/** Names blue, texts green and the rest cyan, as `gh` has them; the same text without colour when there is to be none. */
export function paintJson(text: string, color: boolean): string {
  if (!color) return text;
  const chalk = new Chalk({ level: 1 });
  return text.replace(TOKEN, (token, at: number) => {
    if (token.startsWith('"')) return text[at + token.length] === ":" ? chalk.blue.bold(token) : chalk.green(token);
    return /^[{}[\],:]$/.test(token) ? token : chalk.cyan(token);
  });
}
