import type { Log } from "../runtime/log.ts";
import type { StoreEvent } from "./store/store-errors.ts";

function logStoreEvent(log: Log, file: string, event: StoreEvent): void {
  switch (event.kind) {
    case "created":
      return log.info("data_file_created", { file, message: `created ${file}` });
    case "readable":
      return log.warn("data_file_readable", {
        file,
        message: `${file} can be read by other users; run chmod 600 ${file}`,
      });
    case "upgraded":
      return log.info("data_upgraded", {
        from: event.from,
        to: event.to,
        message: `the schema was changed from version ${event.from} to ${event.to}; older versions can't use this data`,
      });
    case "trouble":
      return log.error("data_file_trouble", { file, trouble: event.error.trouble, message: event.error.message });
    case "recovered":
      return log.info("data_file_recovered", { file, message: `${file} can be written again` });
    case "slow":
      return log.warn("slow_statement", { statement: event.statement, duration_ms: Math.round(event.seconds * 1000) });
  }
}

export function logOverdue(log: Log, held: number, maxAgeSeconds: number): void {
  log.warn("surveys_overdue", {
    held,
    max_age_seconds: maxAgeSeconds,
    message: `${held} messages were due more than ${maxAgeSeconds / 3600} hours ago and are held`,
  });
}

/** Logs a recurring error only once, until it has stopped. */
export class FailureLog {
  readonly #log: Log;
  readonly #known = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  readonly add = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    const kind = error instanceof Error && "code" in error ? String(error.code) : message;
    if (this.#known.has(kind)) return;
    this.#known.add(kind);
    this.#log.error("delivery", { error: message });
  };

  end(): void {
    if (this.#known.size > 0) this.#log.info("delivery_recovered", {});
    this.#known.clear();
  }
}

/** Holds events back until `release`: before a server listens, only errors matter. */
export class Notices {
  readonly #log: Log;
  readonly #dataFile: string;
  #held: StoreEvent[] | null = [];

  constructor(log: Log, dataFile: string) {
    this.#log = log;
    this.#dataFile = dataFile;
  }

  add(event: StoreEvent): void {
    if (this.#held === null) logStoreEvent(this.#log, this.#dataFile, event);
    else this.#held.push(event);
  }

  /** `known` is the kind of event that the user has already been shown. */
  release(known: StoreEvent["kind"] | null): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const event of held) if (event.kind !== known) this.add(event);
  }
}
