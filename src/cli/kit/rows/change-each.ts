/**
 * One change for each of several things: at once through the client's gate, one row each, and a failure stops no other.
 */
import type { JsonObject } from "../../../contract/json.ts";
import { inParallel } from "../../../runtime/parallel.ts";
import { CONCURRENCY_DEFAULT } from "../../args/global-options.ts";
import { ChangesFailedError, CrashError, InterruptedError, type ItemFailure } from "../../errors/command-errors.ts";
import type { Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import type { Connection, Deps } from "../deps.ts";
import { describeRetries, formatCount, writeDone } from "../notes.ts";
import { createStopRule, type StopRule } from "./stop-rule.ts";

export interface Each<Item> {
  readonly connection: Connection;
  readonly items: readonly Item[];
  /** Its columns begin with what names an item; `outcome` and `error` are among them. */
  readonly resource: Resource;
  readonly named: (item: Item) => JsonObject;
  /** The item in an error: `response 7`. */
  readonly nameOf: (item: Item) => string;
  /** The row's other columns. Throws where the change failed. */
  readonly work: (item: Item) => Promise<JsonObject>;
  /** The sentence about several items, by the number of those that did not fail. */
  readonly summary?: (changed: number) => string;
}

interface Run {
  readonly rule: StopRule;
  readonly failures: ItemFailure[];
  /** Items that were in flight when the run was interrupted. */
  interrupted: number;
  changed: number;
  /** One of the failures, or the reason of an interrupt or a crash; null while the run goes on. */
  stoppedBy: unknown;
}

/**
 * Rows come in the order of the items, also those of a run that stops: then the items in flight end, and no further one
 * is taken. Throws a single item's failure as it is, ChangesFailedError for several items, or the reason of an
 * interrupt.
 */
export async function changeEach<Item>(deps: Deps, each: Each<Item>): Promise<void> {
  const { items, resource, named } = each;
  const output = await openListOutput(deps, { resource });
  const done = createInOrder((row) => output.write({ rows: [row], text: JSON.stringify([row]) }));
  const run: Run = { rule: createStopRule(), failures: [], interrupted: 0, changed: 0, stoppedBy: null };
  const limit = deps.options.concurrency ?? CONCURRENCY_DEFAULT;
  await inParallel(untilStopped(items, run), limit, async ([place, item]) => {
    await done(place, { ...named(item), ...(await changeOne(deps, each, run, item)) });
  });
  await output.end();
  await conclude(deps, each, run);
}

function* untilStopped<Item>(items: readonly Item[], run: Run): Generator<[number, Item]> {
  for (const entry of items.entries()) {
    if (run.stoppedBy !== null) return;
    yield entry;
  }
}

async function changeOne<Item>(
  { signal }: Deps,
  { work, nameOf }: Each<Item>,
  run: Run,
  item: Item,
): Promise<JsonObject> {
  try {
    const row = await work(item);
    run.rule.ended("well");
    run.changed += 1;
    if (signal.aborted) run.stoppedBy ??= signal.reason;
    return row;
  } catch (error) {
    if (signal.aborted) return interrupt(run, error, signal.reason);
    run.failures.push({ item: nameOf(item), error });
    if (run.rule.stopsAt(error)) run.stoppedBy ??= error;
    return { outcome: "failed", error: messageOf(error) };
  }
}

/** Throws where nothing more can be written. */
function interrupt(run: Run, error: unknown, reason: unknown): JsonObject {
  if (!(reason instanceof InterruptedError)) throw reason as Error;
  run.interrupted += 1;
  run.stoppedBy ??= error instanceof InterruptedError ? error : reason;
  return { outcome: "unknown", error: "interrupted; it may have been done" };
}

async function conclude<Item>(deps: Deps, { connection, items, summary }: Each<Item>, run: Run): Promise<void> {
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

/** `4 done, 1 failed, 2 in flight that may have been done, 93 not tried`. */
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

/** Passes rows on in the order of their places, whenever they come; resolves while another call does so. */
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
