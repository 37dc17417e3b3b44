/** What the tables of every command have in common. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { json, type Behaviour, type SeenRequest } from "../helpers/misbehaving-server.ts";
import { everyCommand, type CalledCommand } from "./commands.ts";

export interface Placed {
  readonly command: CalledCommand;
  readonly home: string;
}

/** Each command with a folder of its own below `place`. */
export async function commandsIn(place: string, { onlyWrites = false } = {}): Promise<Placed[]> {
  await mkdir(place, { recursive: true });
  const names = (await everyCommand(place)).filter(({ writes }) => !onlyWrites || writes === true);
  return await Promise.all(
    names.map(async ({ name }) => {
      const home = path.join(place, fileName(name));
      await mkdir(home, { recursive: true });
      const command = (await everyCommand(home)).find((one) => one.name === name);
      if (command === undefined) throw new Error(name);
      return { command, home };
    }),
  );
}

/** An empty answer of the shape that is asked for. */
export function goodRead({ target }: SeenRequest): Behaviour {
  return json(
    target.includes("people.json") || target.includes("responses") || target.includes("memberships") ? [] : {},
  );
}

export function fileName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

/** The results in the order of the items, whichever ends first. */
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
