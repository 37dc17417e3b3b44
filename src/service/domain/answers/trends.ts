/** Trends: saved filters on `person_properties`. */
import { quoteText } from "../../../contract/text/invisible.ts";
import { checkText, InvalidError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { Transaction, Trend } from "../ports.ts";

/** Saves a filter: responses whose properties have, as text, each of these values. */
export async function addTrend(
  tx: Transaction,
  project: Project,
  name: string,
  where: Readonly<Record<string, string>>,
): Promise<Trend> {
  checkText("name", name);
  if (Object.keys(where).length === 0) throw new InvalidError({ where: ["can't be blank"] });
  for (const text of Object.entries(where).flat()) checkText("where", text, { hasLines: true, mayBeBlank: true });
  const id = await tx.trends.insert(project.id, { name, where });
  return { id, name, where, createdAt: tx.now };
}

export async function listTrends(tx: Transaction, project: Project): Promise<readonly Trend[]> {
  return tx.trends.list(project.id);
}

/** True when there was such a trend. Throws InvalidError while a live page shows it: the page would have no answers. */
export async function removeTrend(tx: Transaction, project: Project, id: string): Promise<boolean> {
  const key = parseId(id);
  const trend = (await tx.trends.list(project.id)).find((one) => one.id === key);
  if (trend === undefined) return false;
  const shares = await tx.shares.list(project.id);
  const page = shares.find((one) => one.trendId === key && (one.expiresAt ?? Infinity) > tx.now);
  if (page === undefined) return tx.trends.delete(project.id, trend.id);
  const [shown, by] = [quoteText(trend.name), quoteText(page.name)];
  const end = "end the page first (share remove)";
  throw new InvalidError(
    { trends: [`must keep ${shown}: the live page ${by} shows it; ${end}`] },
    `trend ${shown} is shown by the live page ${by}; ${end}`,
  );
}

/** The trend that a `trend` parameter names; throws an InvalidError when there is none, or it is still being filled. */
export async function requireTrend(tx: Transaction, project: Project, text: string): Promise<number> {
  const id = parseId(text);
  const isFilled = id === null ? null : await tx.trends.isFilled(project.id, id);
  if (id === null || isFilled === null)
    throw new InvalidError({ trend: ["does not exist"] }, `project ${project.name} has no trend ${text}`);
  if (!isFilled) throw new InvalidError({ trend: ["is not ready yet; try again in a moment"] });
  return id;
}
