import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { inParallel } from "../../../runtime/parallel.ts";
import { ChangesFailedError, CrashError, InterruptedError, type ItemFailure } from "../../errors/command-errors.ts";
import type { Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { type Connection, type Deps, withClient } from "../deps.ts";
import { formatCount } from "../../../contract/text/whole-number.ts";
import { describeRetries, writeDone } from "../notes.ts";
import { createProgress } from "../progress.ts";
import { type PlannedRequest, writeDryRun } from "../write-outcome.ts";
import { StopRule } from "./stop-rule.ts";

export interface Each<Item> {
  readonly items: readonly Item[];
  /** The first columns identify an item; `outcome` and `error` are columns too. */
  readonly resource: Resource;
  readonly named: (item: Item) => JsonObject;
  readonly nameOf: (item: Item) => string;
  /** Returns the request that `--dry-run` prints; null if nothing would be sent. */
  readonly plan: (client: Client, item: Item) => Promise<PlannedRequest | null>;
  readonly confirm?: (client: Client) => Promise<void>;
  readonly oneByOne?: boolean;
  /** Changes one item. Returns the columns of its row that `named` doesn't have. */
  readonly work: (client: Client, item: Item) => Promise<JsonObject>;
  /** Printed if there are several items; `changed` counts those without a failure. */
  readonly summary?: (changed: number) => string;
}

interface Run {
  readonly rule: StopRule;
  readonly failures: ItemFailure[];
  interrupted: number;
  changed: number;
  stoppedBy: unknown;
}

/**
 * Prints rows in the order of the items, and finishes the items in flight before it stops. Throws the error if there is
 * only one item, ChangesFailedError if there are several, or the reason of an interrupt.
 */
export async function changeEach<Item>(deps: Deps, each: Each<Item>): Promise<void> {
  await withClient(deps, async (client, connection) => {
    if (deps.options.dryRun) return printRequests(deps, client, each);
    client.checkMayWrite();
    await each.confirm?.(client);
    const run = await changeAll(deps, client, each);
    await conclude(deps, connection, each, run);
  });
}

async function printRequests<Item>(deps: Deps, client: Client, { items, plan }: Each<Item>): Promise<void> {
  for (const item of items) {
    const request = await plan(client, item);
    if (request !== null) await writeDryRun(deps, client.baseUrl, request);
  }
}

async function changeAll<Item>(deps: Deps, client: Client, each: Each<Item>): Promise<Run> {
  const { items, resource, named } = each;
  const output = await openListOutput(deps, { resource });
  const done = createInOrder((row) => output.write({ rows: [row], text: JSON.stringify([row]) }));
  const run: Run = { rule: new StopRule(), failures: [], interrupted: 0, changed: 0, stoppedBy: null };
  const limit = each.oneByOne === true ? 1 : deps.options.concurrency;
  const progress = createProgress(deps, resource.noun, deps.streams.out);
  progress.expect(items.length);
  try {
    await inParallel(untilStopped(items, run), limit, async ([place, item]) => {
      const row = await changeOne(deps, run, each.nameOf(item), () => each.work(client, item));
      await done(place, { ...named(item), ...row });
      await progress.update(run.changed + run.failures.length);
    });
  } finally {
    await progress.end();
  }
  await output.end();
  return run;
}

function* untilStopped<Item>(items: readonly Item[], run: Run): Generator<[number, Item]> {
  for (const entry of items.entries()) {
    if (run.stoppedBy !== null) return;
    yield entry;
  }
}

async function changeOne(
  { signal }: Deps,
  run: Run,
  item: string,
  work: () => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    const row = await work();
    run.rule.ended("well");
    run.changed += 1;
    if (signal.aborted) run.stoppedBy ??= signal.reason;
    return row;
  } catch (error) {
    if (signal.aborted) return interrupt(run, error, signal.reason);
    run.failures.push({ item, error });
    if (run.rule.stopsAt(error)) run.stoppedBy ??= error;
    return { outcome: "failed", error: messageOf(error) };
  }
}

/**
 * Records that an item was interrupted. Rethrows the reason if the cause is stdout rather than a signal, because no
 * more rows can be printed.
 */
function interrupt(run: Run, error: unknown, reason: unknown): JsonObject {
  if (!(reason instanceof InterruptedError)) throw reason as Error;
  run.interrupted += 1;
  run.stoppedBy ??= error instanceof InterruptedError ? error : reason;
  return { outcome: "unknown", error: "interrupted; it may have been done" };
}

async function conclude<Item>(
  deps: Deps,
  connection: Connection,
  { items, summary }: Each<Item>,
  run: Run,
): Promise<void> {
  const { failures, changed, stoppedBy } = run;
  const [first] = failures;
  const isOne = items.length === 1;
  const retries = isOne ? null : describeRetries(connection);
  if (retries !== null) await writeDone(deps, retries);
  if (stoppedBy instanceof InterruptedError)
    throw isOne && stoppedBy.hint !== null
      ? stoppedBy
      : new InterruptedError(stoppedBy.signal, describeRun(run, items.length));
  if (stoppedBy instanceof CrashError) throw stoppedBy;
  if (first !== undefined && isOne) throw first.error;
  if (stoppedBy !== null) await writeDone(deps, `Stopped: ${describeRun(run, items.length)}`);
  else if (summary !== undefined && !isOne && changed > 0) await writeDone(deps, summary(changed));
  if (failures.length > 0) throw new ChangesFailedError(failures, items.length, stoppedBy);
}

function describeRun({ changed, failures, interrupted }: Run, all: number): string {
  const untried = all - changed - failures.length - interrupted;
  return [
    `${formatCount(changed)} done`,
    ...(failures.length > 0 ? [`${formatCount(failures.length)} failed`] : []),
    ...(interrupted > 0 ? [`${formatCount(interrupted)} in flight that may have been done`] : []),
    ...(untried > 0 ? [`${formatCount(untried)} not tried`] : []),
  ].join(", ");
}

function messageOf(error: unknown): string {
  const { what, message } = error as { readonly what?: unknown; readonly message?: unknown };
  return typeof what === "string" ? what : typeof message === "string" ? message : String(error);
}

function createInOrder(take: (row: JsonObject) => Promise<void>): (place: number, row: JsonObject) => Promise<void> {
  const waiting = new Map<number, JsonObject>();
  const state = { next: 0, isTaking: false };
  return async (place, row) => {
    waiting.set(place, row);
    if (state.isTaking) return;
    state.isTaking = true;
    for (let ready = waiting.get(state.next); ready !== undefined; ready = waiting.get(state.next)) {
      waiting.delete(state.next);
      state.next += 1;
      await take(ready);
    }
    state.isTaking = false;
  };
}
