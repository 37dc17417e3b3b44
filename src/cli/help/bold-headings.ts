import { Chalk } from "chalk";

const HEADING = /(?<=^|\n\n)[A-Z][^\n]*:(?=\n)/g;

export function boldHeadings(text: string): string {
  const { bold } = new Chalk({ level: 1 });
  return text.replaceAll(HEADING, (heading) => bold(heading));
}
