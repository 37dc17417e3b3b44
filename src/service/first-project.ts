import type { Random } from "../runtime/random.ts";
import { createKey } from "./control/create-admin.ts";
import type { Store } from "./domain/ports.ts";
import { addKey, addProject, authenticate, findProject, listKeys, listProjects } from "./domain/projects/projects.ts";

export const DEFAULT_PROJECT = "default";

/** Makes the project `default` where it is missing. */
export async function ensureProject(store: Store): Promise<void> {
  await store.write(async (tx) => {
    if ((await findProject(tx, DEFAULT_PROJECT)) === null) await addProject(tx, DEFAULT_PROJECT);
  });
}

/** The key that was given is not one of the keys that the data file has. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
}

/**
 * On a first start makes the project `default` and its key: the one given, or a new one. Null when there were
 * keys already. Throws InvalidError for a key that cannot be one, UnknownKeyError for one that opens nothing.
 */
export async function ensureFirstKey(store: Store, random: Random, given: string | null): Promise<string | null> {
  return store.write(async (tx) => {
    const existing = await findProject(tx, DEFAULT_PROJECT);
    const project = existing ?? (await addProject(tx, DEFAULT_PROJECT));
    if (existing !== null) {
      for (const other of await listProjects(tx)) {
        if ((await listKeys(tx, other)).length === 0) continue;
        if (given === null || (await authenticate(tx, given)) !== null) return null;
        throw new UnknownKeyError("the key is not one of the data file's keys");
      }
    }
    const key = given ?? createKey(random);
    await addKey(tx, project, key);
    return key;
  });
}
