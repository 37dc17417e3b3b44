/** Erased people as keyed hashes, so that restores, moves and imports leave them out. */
import { createHmac } from "node:crypto";
import { emailKey } from "../../../contract/text/email.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import type { ErasureEntry } from "./erasure-rows.ts";

export interface Identifiers {
  readonly id: number | null;
  readonly email: string | null;
  readonly phoneNumber: string | null;
}

export interface ErasureLog {
  readonly secret: string;
  readonly projects: readonly { readonly name: string; readonly entries: readonly ErasureEntry[] }[];
}

export const ERASURE_SECRET = "erasure";

export function erasureHashes(secret: string, { id, email, phoneNumber }: Identifiers): string[] {
  const subjects = [
    email === null ? null : `email ${emailKey(email)}`,
    phoneNumber === null ? null : `phone ${phoneNumber}`,
    id === null ? null : `person ${id}`,
  ];
  return subjects.flatMap((subject) =>
    subject === null ? [] : [createHmac("sha256", secret).update(subject).digest("hex")],
  );
}

export async function noteErasure(tx: Transaction, project: Project, identifiers: Identifiers): Promise<void> {
  const secret = await tx.secrets.ensure(ERASURE_SECRET);
  for (const hash of erasureHashes(secret, identifiers)) await tx.erasures.note(project.id, { hash, at: tx.now });
}

/** Null for people who weren't erased. If several identifiers match, the latest time counts. */
export async function findErasures(
  tx: Transaction,
  project: Project,
  people: readonly Identifiers[],
): Promise<readonly (number | null)[]> {
  const secret = await tx.secrets.read(ERASURE_SECRET);
  if (secret === null) return people.map(() => null);
  const hashes = people.map((person) => erasureHashes(secret, person));
  const found = await tx.erasures.find(project.id, [...new Set(hashes.flat())]);
  return hashes.map((some) => {
    const times = some.flatMap((hash) => found.get(hash) ?? []);
    return times.length === 0 ? null : Math.max(...times);
  });
}

export async function readErasureLog(tx: Transaction): Promise<ErasureLog> {
  const secret = (await tx.secrets.read(ERASURE_SECRET)) ?? "";
  const projects = [];
  for (const { id, name } of await tx.projects.list()) projects.push({ name, entries: await tx.erasures.list(id) });
  return { secret, projects };
}
