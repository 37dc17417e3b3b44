import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { ExpectStatic } from "vitest";
import { isLong } from "../helpers/long.ts";
import { json, type Behaviour, type SeenRequest } from "../helpers/misbehaving-server.ts";
import { commandsOf, everyCommand, type CalledCommand } from "./commands.ts";

export interface Placed {
  readonly command: CalledCommand;
  readonly home: string;
}

export function commandNames({ onlyWrites = false } = {}): readonly string[] {
  return commandsOf("")
    .filter(({ writes }) => !onlyWrites || writes === true)
    .map(({ name }) => name);
}

export async function commandsIn(place: string, names = commandNames()): Promise<Placed[]> {
  return await Promise.all(
    names.map(async (name) => {
      const home = path.join(place, fileName(name));
      await mkdir(home, { recursive: true });
      const command = (await everyCommand(home)).find((one) => one.name === name);
      if (command === undefined) throw new Error(name);
      return { command, home };
    }),
  );
}

/** Takes every `share`th item, starting at `turn`. The long run takes all. */
export interface Sample {
  readonly share: number;
  readonly turn: number;
}

export function sampled<Item>(items: readonly Item[], { share, turn }: Sample): readonly Item[] {
  return isLong ? items : items.filter((_, index) => (index + turn) % share === 0);
}

export interface Table {
  readonly title: string;
  readonly commands: readonly string[];
  readonly lines: readonly string[];
}

/** Compares with a golden file in `test/golden`: all of its commands, but only the lines of those that ran. */
export async function matchGolden(
  expect: ExpectStatic,
  file: string,
  { title, commands, lines }: Table,
): Promise<void> {
  if (isLong) {
    await expect(`${title}\n\n${lines.join("")}`).toMatchFileSnapshot(`../golden/${file}`);
    return;
  }
  const golden = await readFile(path.join(import.meta.dirname, "../golden", file), "utf8");
  const [head = "", ...rows] = golden.replace(/\n$/, "").split(/\n(?=\S)/);
  const known = new Map(rows.map((row) => [nameOf(row), `${row}\n`]));
  const how = "npm run test:long -- <this test's file> -u writes the golden file";
  expect([head.trimEnd(), ...known.keys()], how).toEqual([title, ...commands]);
  expect(lines.join(""), how).toBe(lines.map((line) => known.get(nameOf(line))).join(""));
}

const NAME_COLUMNS = 24;

function nameOf(line: string): string {
  return line.slice(0, NAME_COLUMNS).trimEnd();
}

export function goodRead({ target }: SeenRequest): Behaviour {
  return json(
    target.includes("people.json") || target.includes("responses") || target.includes("memberships") ? [] : {},
  );
}

export function fileName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
