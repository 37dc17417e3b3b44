import type { Random } from "../runtime/random.ts";
import { createKey } from "./operations/projects.ts";
import type { Store, Transaction } from "./domain/ports.ts";
import { addKey, addProject, examineKey } from "./domain/projects/projects.ts";

export const DEFAULT_PROJECT = "default";

export async function ensureProject(store: Store): Promise<void> {
  await store.write(
    async (tx) => {
      if ((await tx.projects.list()).length === 0) await addProject(tx, DEFAULT_PROJECT);
    },
    { project: "all" },
  );
}

/**
 * Returns the new key; null if there are keys already or `given` was revoked. Throws InvalidError for an invalid key.
 */
export async function ensureFirstKey(store: Store, random: Random, given: string | null): Promise<string | null> {
  // This usually finds a key, without waiting for other processes.
  if (await store.read((tx) => hasFirstKey(tx, given))) return null;
  return store.write(
    async (tx) => {
      if (await hasFirstKey(tx, given)) return null;
      const [first] = await tx.projects.list();
      const key = given ?? createKey(random);
      await addKey(tx, first ?? (await addProject(tx, DEFAULT_PROJECT)), key);
      return key;
    },
    { project: "all" },
  );
}

export async function hasFirstKey(tx: Transaction, given: string | null): Promise<boolean> {
  for (const project of await tx.projects.list()) if ((await tx.projects.listKeys(project.id)).length > 0) return true;
  // A revoked key never becomes valid again.
  return given !== null && (await examineKey(tx, given)).kind === "revoked";
}
