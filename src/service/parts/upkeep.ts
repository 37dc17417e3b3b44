/** A server's hourly work: removes old messages, logs and answers, and finishes interrupted erasures. */
import type { Outbox } from "../delivery/outbox.ts";
import { pruneAttempts } from "../domain/delivery/oversight.ts";
import type { Store } from "../domain/ports.ts";
import { followRetention } from "../domain/privacy/retention.ts";
import { pruneUnscheduled } from "../domain/surveys/unscheduled/unscheduled.ts";
import { pruneEvents } from "../domain/webhooks/webhooks.ts";
import { readLead } from "../domain/write-time.ts";
import { logClockBehind } from "../service-log.ts";
import type { Base } from "./base.ts";
import type { Part } from "./part.ts";

const POLL_MS = 5_000;
const PRUNE_MS = 3_600_000;
const PRUNED_A_STEP = 1000;

/** `sweepMessages` removes messages of deleted people. */
export function openUpkeep(
  { store, clock, log, options, failures, keepErasures }: Base,
  outbox: Outbox,
  sweepMessages: () => Promise<number | null>,
): Part {
  const { add: onError } = failures;
  const { outboxKeepSeconds: keepSeconds = null } = options;
  const stopping = new AbortController();
  const state: { loop: Promise<void> | null } = { loop: null };
  const mayGoOn = (): boolean => !stopping.signal.aborted;
  const pruneOutbox = async (): Promise<void> => {
    const now = clock.now();
    await outbox.prune(keepSeconds === null ? null : now - keepSeconds * 1000, now);
  };
  const loop = async (): Promise<void> => {
    let nextPruneMs = clock.monotonic();
    let isBehind = false;
    while (mayGoOn()) {
      if (clock.monotonic() >= nextPruneMs) {
        await keepErasures().catch(onError);
        await finishErasure(store, sweepMessages).catch(onError);
        await pruneOutbox().catch(onError);
        await forgetAttempts(store).catch(onError);
        await followAll(store, mayGoOn).catch(onError);
        nextPruneMs = clock.monotonic() + PRUNE_MS;
      }
      const lead = await store.read(readLead).catch(() => 0);
      if (lead > 0 && !isBehind) logClockBehind(log, lead);
      isBehind = lead > 0;
      // The store reports what it finds.
      await store.verify().catch(() => undefined);
      await clock.sleep(POLL_MS, stopping.signal).catch(() => undefined);
    }
  };
  return {
    start: () => {
      state.loop ??= loop();
    },
    stop: async () => {
      stopping.abort();
      await state.loop;
    },
  };
}

async function forgetAttempts(store: Store): Promise<void> {
  // Nothing changes these rows any more, so no project is locked.
  while (await store.write((tx) => pruneAttempts(tx, PRUNED_A_STEP), { project: "none" }));
  while (await store.write((tx) => pruneUnscheduled(tx, PRUNED_A_STEP), { project: "none" }));
  await pruneEvents(store);
}

async function followAll(store: Store, mayGoOn: () => boolean): Promise<void> {
  for (const project of await store.read((tx) => tx.projects.list())) await followRetention(store, project, mayGoOn);
}

/**
 * A process killed after an erasure leaves messages, and deleted rows in the file's free space; the latter also remain
 * if someone was reading for long.
 */
export async function finishErasure(store: Store, sweepMessages: () => Promise<unknown>): Promise<void> {
  if (!(await store.read((tx) => tx.erasures.isCleaning()))) return;
  await store.settle();
  await sweepMessages();
  await store.clean([]);
  await store.write((tx) => tx.erasures.setCleaning(false), { project: "none" });
}
