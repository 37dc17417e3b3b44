import type { Properties } from "../../../contract/resources.ts";
import type { NewPastResponse } from "./response-columns.ts";
import type { NewResponse, PlacedResponse, StoredResponseChange, Transaction } from "../ports.ts";
import { meetsConditions } from "./trends.ts";

export async function storeResponse(tx: Transaction, project: number, response: NewResponse): Promise<number> {
  const id = await tx.responses.insert(project, response);
  const row = { ...response, id, surveyType: "nps" };
  await enterTrends(tx, project, [row], () => response.personProperties);
  return id;
}

export async function changeResponse(
  tx: Transaction,
  project: number,
  id: number,
  change: StoredResponseChange,
): Promise<void> {
  const old = await tx.responses.byId(project, id);
  if (old === null) return;
  const row = { ...old, ...change };
  await tx.trends.leave(project, id);
  await tx.responses.update(project, id, change);
  await enterTrends(tx, project, [row], () => row.personProperties);
  if (row.personId !== old.personId) await tx.responses.refreshLast(project, [old.personId, row.personId]);
}

export async function removeResponse(tx: Transaction, project: number, id: number): Promise<boolean> {
  const row = await tx.responses.byId(project, id);
  if (row === null) return false;
  await tx.responses.delete(project, id);
  await tx.shares.forgetDays(project, [row.createdAt]);
  await tx.responses.refreshLast(project, [row.personId]);
  return true;
}

export async function storePastResponses(
  tx: Transaction,
  project: number,
  rows: readonly NewPastResponse[],
): Promise<void> {
  await tx.history.insertResponses(project, rows);
  if (rows.length > 0) await enterTrends(tx, project, rows, pastProperties);
}

export async function replacePastResponse(tx: Transaction, project: number, row: NewPastResponse): Promise<void> {
  const [old] = await tx.history.responses(project, [row.id]);
  if (old === undefined) throw new Error(`project ${project} has no response ${row.id}`);
  await tx.trends.leave(project, row.id);
  await tx.shares.forgetDays(project, [old.createdAt]);
  await tx.history.replaceResponse(project, row);
  await enterTrends(tx, project, [row], pastProperties);
  await tx.responses.refreshLast(project, [old.personId, row.personId]);
}

function pastProperties({ properties }: NewPastResponse): Properties {
  return JSON.parse(properties) as Properties;
}

/** Adds responses to the trends whose conditions they meet, and drops the cached counts of their days. */
async function enterTrends<Row extends PlacedResponse>(
  tx: Transaction,
  project: number,
  rows: readonly Row[],
  propertiesOf: (row: Row) => Properties,
): Promise<void> {
  await tx.shares.forgetDays(
    project,
    rows.map(({ createdAt }) => createdAt),
  );
  for (const { id, where } of await tx.trends.list(project)) {
    const meeting = rows.filter((row) => meetsConditions(propertiesOf(row), where));
    await tx.trends.enter(project, id, meeting);
  }
}
