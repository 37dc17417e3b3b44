/** One change for each of several things: at once through the client's gate, one row each, and a failure stops no other. */
import { AuthError, RefusedError } from "../../../client/errors/call-errors.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { inParallel } from "../../../runtime/parallel.ts";
import { CONCURRENCY_DEFAULT } from "../../args/global-options.ts";
import { InterruptedError, NothingFoundError } from "../../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import type { Deps } from "../deps.ts";

export interface Each<Item> {
  readonly items: readonly Item[];
  /** Its columns begin with what names an item; `outcome` and `error` are among them. */
  readonly resource: Resource;
  /** The columns that name the item. */
  readonly named: (item: Item) => JsonObject;
  /** The item in an error: `response 7`. */
  readonly nameOf: (item: Item) => string;
  /** The row's other columns. Throws where the change failed. */
  readonly work: (item: Item) => Promise<JsonObject>;
}

interface Failure {
  readonly name: string;
  readonly error: unknown;
}

/**
 * Rows come in the order of the items. A single failure is thrown as it is; of several items each failure has its line,
 * and the status is that of the gravest. `changed` counts the items that did not fail.
 */
export async function changeEach<Item>(
  deps: Deps,
  { items, resource, named, nameOf, work }: Each<Item>,
): Promise<{ readonly exit: ExitCode; readonly changed: number }> {
  const output = await openListOutput(deps, { resource });
  const done = createInOrder((row) => output.write({ rows: [row], text: JSON.stringify([row]) }));
  const failures: Failure[] = [];
  const limit = deps.options.concurrency ?? CONCURRENCY_DEFAULT;
  await inParallel(items.entries(), limit, async ([place, item]) => {
    const row = await work(item).catch((error: unknown): JsonObject => {
      if (error instanceof InterruptedError) throw error;
      deps.signal.throwIfAborted();
      failures.push({ name: nameOf(item), error });
      return { outcome: "failed", error: messageOf(error) };
    });
    await done(place, { ...named(item), ...row });
  });
  await output.end();
  const [first] = failures;
  if (first !== undefined && items.length === 1) throw first.error;
  for (const { name, error } of failures) await deps.streams.err.write(`error: ${name}: ${messageOf(error)}\n`);
  const exits = new Set(failures.map(({ error }) => exitOf(error)));
  const exit = failures.length === 0 ? EXIT.done : (GRAVEST_FIRST.find((each) => exits.has(each)) ?? EXIT.failed);
  return { exit, changed: items.length - failures.length };
}

function messageOf(error: unknown): string {
  const { what, message } = error as { readonly what?: unknown; readonly message?: unknown };
  return typeof what === "string" ? what : typeof message === "string" ? message : String(error);
}

const GRAVEST_FIRST: readonly ExitCode[] = [EXIT.auth, EXIT.failed, EXIT.refused];

function exitOf(error: unknown): ExitCode {
  if (error instanceof AuthError) return EXIT.auth;
  return error instanceof RefusedError || error instanceof NothingFoundError ? EXIT.refused : EXIT.failed;
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
