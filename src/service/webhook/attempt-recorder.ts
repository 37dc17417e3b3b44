import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { groupByProject, allOrFirstError } from "../domain/by-project.ts";
import type { Store, Transaction, WebhookRow } from "../domain/ports.ts";
import { type AttemptMeaning, recordAttempt } from "../domain/webhooks/attempts.ts";
import type { EndedAttempt } from "./endpoint-queue.ts";

export interface AttemptRecorderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly onRecorded: () => void;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const AFTER_ERROR_MS = 2_000;
/** Attempts that finish within this time share a commit. */
const GATHER_MS = 20;
const RECORDED_AT_ONCE = 64;

export class AttemptRecorder {
  readonly counts = new Map<AttemptMeaning["kind"], number>();
  readonly #options: AttemptRecorderOptions;
  readonly #ended: EndedAttempt[] = [];
  #recording: Promise<void> | null = null;

  constructor(options: AttemptRecorderOptions) {
    this.#options = options;
  }

  add(attempt: EndedAttempt): void {
    this.#ended.push(attempt);
    this.#recording ??= this.#record()
      .catch(() => undefined)
      .finally(() => {
        this.#recording = null;
      });
  }

  async settled(): Promise<void> {
    await this.#recording;
  }

  async #record(): Promise<void> {
    const { clock, onRecorded, onError, signal } = this.#options;
    while (this.#ended.length > 0) {
      try {
        if (this.#ended.length < RECORDED_AT_ONCE) await clock.sleep(GATHER_MS);
        const groups = groupByProject(this.#ended.slice(), ({ queue }) => queue.webhook().project.id);
        await allOrFirstError([...groups].map(([project, some]) => this.#recordIn(project, some)));
        onRecorded();
      } catch (error) {
        onError(error);
        await clock.sleep(AFTER_ERROR_MS, signal);
      }
    }
  }

  async #recordIn(project: number, some: readonly EndedAttempt[]): Promise<void> {
    const { store, random } = this.#options;
    const meanings = await store.write((tx) => recordAll(tx, some, random), { project });
    const recorded = new Set(some);
    this.#ended.splice(0, this.#ended.length, ...this.#ended.filter((one) => !recorded.has(one)));
    for (const [index, { queue, due }] of some.entries()) {
      queue.forget(due);
      this.#count(queue.webhook(), meanings[index]);
    }
  }

  /** If the endpoint was disabled, logs only the host of its URL, because the rest may be secret. */
  #count({ project, id, url }: WebhookRow, meaning: AttemptMeaning | undefined): void {
    if (meaning === undefined) return;
    this.counts.set(meaning.kind, (this.counts.get(meaning.kind) ?? 0) + 1);
    if (meaning.kind !== "disabled" || !meaning.isNew) return;
    const message = `webhook ${id} is disabled: ${meaning.reason}; events wait for it for 7 days`;
    const facts = { project: project.name, webhook: id, host: new URL(url).host, message };
    this.#options.log.warn("webhook_disabled", facts);
  }
}

async function recordAll(
  tx: Transaction,
  ended: readonly EndedAttempt[],
  random: Random,
): Promise<readonly AttemptMeaning[]> {
  const meanings: AttemptMeaning[] = [];
  for (const { queue, due, end } of ended)
    meanings.push(await recordAttempt(tx, queue.webhook(), due.event, end, random.fraction()));
  return meanings;
}
