/** Types the examples in help. One file per part of the commands, so that they run in parallel. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { readCommands } from "../helpers/command-tree.ts";
import { openExampleWorld } from "../helpers/example-world.ts";
import { isLong } from "../helpers/long.ts";

/** Each plays for seconds. In the short run test/cli/commands/demo covers the first and a story the second. */
const DEMOS = ["surveyctl demo", "surveyctl demo --no-pause --no-color > demo.txt"];

const SERVICE = /^service /;
const PROJECT =
  /^service (?:project|key|throttle|reminder|autopilot|trend|question|settings|survey|link|share|brand|texts|webhook)\b/;

export const PARTS = {
  client: (name: string) => !SERVICE.test(name),
  project: (name: string) => PROJECT.test(name),
  service: (name: string) => SERVICE.test(name) && !PROJECT.test(name),
};

/** Examples with an invalid command line or an undocumented exit status. */
export async function wrongExamples(part: (name: string) => boolean): Promise<string[]> {
  expect(readFileSync(path.join(import.meta.dirname, "../acceptance/demo.txt"), "utf8")).toContain(DEMOS[1]);
  const commands = (await readCommands()).filter(({ name }) => part(name));
  expect(commands.length).toBeGreaterThan(15);
  const world = await openExampleWorld();
  const wrong: string[] = [];
  // Examples of one command can affect each other, so they run in order.
  const queue = commands.values();
  const worker = async (): Promise<void> => {
    for (const { examples, exits } of queue) {
      for (const example of isLong ? examples : examples.filter((line) => !DEMOS.includes(line))) {
        const { status, stderr } = await world.type(example);
        if (!exits.includes(status ?? -1)) wrong.push(`${example}\n  ended with ${String(status)}: ${stderr}`);
      }
    }
  };
  try {
    await Promise.all([worker(), worker(), worker()]);
  } finally {
    await world.close();
  }
  return wrong;
}
