/** Trends: saved filters on `person_properties`. */
import { InvalidError } from "./errors.ts";
import { parseId } from "./ids.ts";
import type { Project } from "./inputs.ts";
import type { Transaction, Trend } from "./ports.ts";

/** Saves a filter: responses whose properties have, as text, each of these values. */
export async function addTrend(
  tx: Transaction,
  project: Project,
  name: string,
  where: Readonly<Record<string, string>>,
): Promise<Trend> {
  if (name === "") throw new InvalidError({ name: ["can't be blank"] });
  if (Object.keys(where).length === 0) throw new InvalidError({ where: ["can't be blank"] });
  const id = await tx.trends.insert(project.id, { name, where });
  return { id, name, where, createdAt: tx.now };
}

export async function listTrends(tx: Transaction, project: Project): Promise<readonly Trend[]> {
  return tx.trends.list(project.id);
}

/** Whether there was such a trend. */
export async function removeTrend(tx: Transaction, project: Project, id: string): Promise<boolean> {
  const key = parseId(id);
  return key !== null && tx.trends.delete(project.id, key);
}

/** The trend that a `trend` parameter names; throws an InvalidError when there is none. */
export async function requireTrend(tx: Transaction, project: Project, text: string): Promise<number> {
  const id = parseId(text);
  if (id === null || !(await tx.trends.exists(project.id, id))) throw new InvalidError({ trend: ["does not exist"] });
  return id;
}
