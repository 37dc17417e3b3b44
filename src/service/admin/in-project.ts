/** Work on the project that a command names. */
import type { ProjectRow, Store, Transaction } from "../domain/ports.ts";
import { findProject } from "../domain/projects/projects.ts";
import { AdminError } from "./commands.ts";

/** Runs `work` as a write of the project with that name; the writes of other projects go on. Throws AdminError. */
export async function writeInProject<Result>(
  store: Store,
  name: string,
  work: (tx: Transaction, project: ProjectRow) => Promise<Result>,
): Promise<Result> {
  const { id } = await store.read((tx) => requireProject(tx, name));
  return store.write(async (tx) => work(tx, await requireProject(tx, name)), { project: id });
}

/** Runs `work` as a read of the project with that name. Throws AdminError. */
export async function readInProject<Result>(
  store: Store,
  name: string,
  work: (tx: Transaction, project: ProjectRow) => Promise<Result>,
): Promise<Result> {
  return store.read(async (tx) => work(tx, await requireProject(tx, name)));
}

/** Throws AdminError. */
export async function requireProject(tx: Transaction, name: string): Promise<ProjectRow> {
  const project = await findProject(tx, name);
  if (project === null) throw new AdminError(`there is no project ${JSON.stringify(name)}`);
  return project;
}
