import type { Random } from "../runtime/random.ts";
import { createKey } from "./control/create-admin.ts";
import type { Store, Transaction } from "./domain/ports.ts";
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
  // Most starts only look, which waits for no other process.
  if (await store.read((tx) => hasFirstKey(tx, given))) return null;
  return store.write(async (tx) => {
    if (await hasFirstKey(tx, given)) return null;
    const project = (await findProject(tx, DEFAULT_PROJECT)) ?? (await addProject(tx, DEFAULT_PROJECT));
    const key = given ?? createKey(random);
    await addKey(tx, project, key);
    return key;
  });
}

/** Throws UnknownKeyError when there are keys and the one that was given is none of them. */
async function hasFirstKey(tx: Transaction, given: string | null): Promise<boolean> {
  if ((await findProject(tx, DEFAULT_PROJECT)) === null) return false;
  for (const project of await listProjects(tx)) {
    if ((await listKeys(tx, project)).length === 0) continue;
    if (given === null || (await authenticate(tx, given)) !== null) return true;
    throw new UnknownKeyError("the key is not one of the data file's keys");
  }
  return false;
}
