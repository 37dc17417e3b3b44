/** The README's picture shows the demo's output; `npm run docs` redraws it. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { isLong } from "./helpers/long.ts";
import { startProgram } from "./helpers/run-cli.ts";
import { drawTerminal, plainLines, shownLines } from "./helpers/terminal-picture.ts";

const PICTURE = path.join(import.meta.dirname, "../docs/demo.svg");
const COLUMNS = 92;
const STEPS: ReadonlySet<number> = new Set([1, 2, 5]);

/** Takes seconds; in the short run a story plays the demo without pauses. */
const isDrawing = process.env.DRAW_PICTURE === "1";

it.skipIf(!isLong && !isDrawing)(
  "when the demo is played, then each step but the first waits for Enter, and the picture shows them",
  async () => {
    const home = await mkdtemp(path.join(tmpdir(), "surveyctl-picture-"));
    const env = { TMPDIR: home, FORCE_COLOR: "1" };
    const demo = startProgram({ args: ["demo"], home, env, tty: { columns: COLUMNS } });
    for (let step = 2; step <= 7; step += 1) {
      const [shown] = await demo.saying(new RegExp(`^.*(?:Press Enter to continue .*){${step - 1}}`, "s"));
      const numbers = plainLines(shownLines(shown)).flatMap((line) => /^(\d)\. /.exec(line)?.[1] ?? []);
      expect(numbers.at(-1)).toBe(String(step - 1));
      demo.child.stdin.write("\r");
    }
    const { status, stdout } = await demo.ended;
    await rm(home, { recursive: true, force: true });
    expect([status, stdout.includes("The demo server has stopped.")]).toEqual([0, true]);
    const played = shownLines(stdout);
    const prompts = plainLines(played).map((line) => line.startsWith("Press Enter to continue"));
    const lines = pick(played.filter((_, index) => prompts[index] !== true));
    const drawn = drawTerminal(lines, COLUMNS, "surveyctl demo in a terminal");
    if (isDrawing) await writeFile(PICTURE, drawn);
    const shown = steady(drawn);
    expect([steady(await readFile(PICTURE, "utf8")), shown.length > 5]).toEqual([shown, true]);
  },
);

function pick(lines: readonly string[]): string[] {
  const plain = plainLines(lines);
  let step = 0;
  const chosen = lines.filter((_, index) => {
    const [, number] = /^(\d)\. /.exec(plain[index] ?? "") ?? [];
    step = number === undefined ? step : Number(number);
    return STEPS.has(step);
  });
  return chosen.filter((line, index) => line.trim() !== "" || (chosen[index - 1] ?? "").trim() !== "");
}

/** Commands and headings. Everything else differs between runs. */
function steady(svg: string): string[] {
  return textsOf(svg).filter((text) => /^(?:\d\. |surveyctl )/.test(text));
}

function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text.replaceAll("&gt;", ">"));
}
