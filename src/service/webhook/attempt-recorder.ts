import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store, WebhookRow } from "../domain/ports.ts";
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

export class AttemptRecorder {
  readonly counts = new Map<AttemptMeaning["kind"], number>();
  readonly #options: AttemptRecorderOptions;
  readonly #recording = new Set<Promise<void>>();

  constructor(options: AttemptRecorderOptions) {
    this.#options = options;
  }

  add(attempt: EndedAttempt): void {
    const recording = this.#record(attempt)
      .catch(() => undefined)
      .finally(() => this.#recording.delete(recording));
    this.#recording.add(recording);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#recording);
  }

  async #record({ queue, due, end }: EndedAttempt): Promise<void> {
    const { store, clock, random, onRecorded, onError, signal } = this.#options;
    for (;;) {
      try {
        const meaning = await store.write(
          (tx) => recordAttempt(tx, queue.webhook(), due.event, end, random.fraction()),
          { project: queue.webhook().project.id, mayWaitMs: GATHER_MS },
        );
        queue.forget(due);
        this.#count(queue.webhook(), meaning);
        return onRecorded();
      } catch (error) {
        onError(error);
        await clock.sleep(AFTER_ERROR_MS, signal);
      }
    }
  }

  /** If the endpoint was disabled, logs only the host of its URL, because the rest may be secret. */
  #count({ project, id, url }: WebhookRow, meaning: AttemptMeaning): void {
    this.counts.set(meaning.kind, (this.counts.get(meaning.kind) ?? 0) + 1);
    if (meaning.kind !== "disabled" || !meaning.isNew) return;
    const message = `webhook ${id} is disabled: ${meaning.reason}; events wait for it for 7 days`;
    const facts = { project: project.name, webhook: id, host: new URL(url).host, message };
    this.#options.log.warn("webhook_disabled", facts);
  }
}
