import type { Properties } from "../../../contract/resources.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { type LongChange, STEP } from "../../sql/long-changes.ts";
import { checkText, InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { Transaction, Trend } from "../ports.ts";

export function meetsConditions(properties: Properties, where: Trend["where"]): boolean {
  return Object.entries(where).every(
    ([key, value]) => Object.hasOwn(properties, key) && toText(properties[key]) === value,
  );
}

function toText(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  return JSON.stringify(value);
}

/** Saves a filter. Existing responses are added in steps; see `Store.settle`. */
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
  await tx.changes.begin({ project: project.id, kind: "fill trend", target: String(id) });
  return { id, name, where, createdAt: tx.now };
}

export async function findTrend(tx: Transaction, project: Project, id: string): Promise<Trend> {
  const key = parseId(id);
  const trend = (await tx.trends.list(project.id)).find((one) => one.id === key);
  if (trend === undefined) throw new NotFoundError(`project ${project.name} has no trend ${id}`);
  return trend;
}

/** Throws NotFoundError, and InvalidError while a live page shows the trend. */
export async function removeTrend(tx: Transaction, project: Project, id: string): Promise<void> {
  const trend = await findTrend(tx, project, id);
  const shares = await tx.shares.list(project.id);
  const page = shares.find((one) => one.trendId === trend.id && (one.expiresAt ?? Infinity) > tx.now);
  if (page === undefined) {
    const change = { project: project.id, target: String(trend.id) };
    await tx.trends.hide(project.id, trend.id);
    tx.changes.forget({ ...change, kind: "fill trend" });
    await tx.changes.begin({ ...change, kind: "remove trend" });
    return;
  }
  const [shown, by] = [quoteText(trend.name), quoteText(page.name)];
  const end = "end the page first (share remove)";
  throw new InvalidError(
    { trends: [`must keep ${shown}: the live page ${by} shows it; ${end}`] },
    `trend ${shown} is shown by the live page ${by}; ${end}`,
  );
}

/** Responses stored or changed since the trend was added are already in it. */
export async function fillTrendStep(tx: Transaction, { project, target, doneTo }: LongChange): Promise<number | null> {
  const id = Number(target);
  const where = (await tx.trends.list(project)).find((trend) => trend.id === id)?.where;
  if (where === undefined) return null;
  const rows = await tx.trends.candidates(project, id, doneTo, STEP);
  const meeting = rows.filter(
    ({ isIn, properties }) => !isIn && meetsConditions(JSON.parse(properties) as Properties, where),
  );
  await tx.shares.forgetDays(
    project,
    meeting.map(({ createdAt }) => createdAt),
  );
  await tx.trends.enter(project, id, meeting);
  const last = rows.at(-1);
  if (rows.length === STEP && last !== undefined) return last.id;
  await tx.trends.setFilled(project, id);
  return null;
}

export async function removeTrendStep(tx: Transaction, { project, target }: LongChange): Promise<number | null> {
  return (await tx.trends.deleteSome(project, Number(target), STEP)) ? null : 0;
}

/** Throws InvalidError if the trend doesn't exist or isn't filled yet. */
export async function requireTrend(tx: Transaction, project: Project, text: string): Promise<number> {
  const id = parseId(text);
  const isFilled = id === null ? null : await tx.trends.isFilled(project.id, id);
  if (id === null || isFilled === null)
    throw new InvalidError({ trend: ["does not exist"] }, `project ${project.name} has no trend ${text}`);
  if (!isFilled) throw new InvalidError({ trend: ["is not ready yet; try again in a moment"] });
  return id;
}
