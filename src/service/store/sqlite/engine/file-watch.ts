/** Reports each problem of an open data file once; after a replacement, it refuses all further work. */
import { statfsSync, statSync } from "node:fs";
import path from "node:path";
import { type StoreEvent, StoreFileError } from "../../store-errors.ts";

/** A disk with less free space counts as full, because libraries may report a full disk as an I/O error. */
const ROOM_BYTES_MIN = 128 * 1024;
const NOT_SAVED = "the disk reports an error; the service has stopped, as it cannot tell what is saved";

export class FileWatch {
  readonly #file: string | null;
  readonly #onEvent: (event: StoreEvent) => void;
  readonly #names: readonly string[];
  readonly #opened: readonly (string | null)[];
  #trouble: StoreFileError | null = null;
  #refusal: StoreFileError | null = null;
  #lose: (error: StoreFileError) => void = () => undefined;
  readonly lost = new Promise<StoreFileError>((resolve) => {
    this.#lose = resolve;
  });

  constructor(file: string | null, onEvent: (event: StoreEvent) => void) {
    this.#file = file;
    this.#onEvent = onEvent;
    this.#names = file === null ? [] : [file, `${file}-wal`];
    this.#opened = this.#names.map(fileIdentity);
  }

  /** Throws if the file or its log was removed or replaced. */
  look(): void {
    const changed = this.#names.find((name, at) => fileIdentity(name) !== this.#opened[at]);
    if (changed === undefined) return;
    const what = changed === this.#file ? "the file" : `its log ${changed}`;
    const how = fileIdentity(changed) === null ? "removed" : "replaced by another";
    throw this.#giveUp(
      `${what} was ${how} while it was in use; the service has stopped, as nothing is saved there any more`,
    );
  }

  uncommitted(error: unknown): unknown {
    const isOfDisk = error instanceof StoreFileError && error.trouble === "unreadable";
    if (!isOfDisk || this.#file === null || hasNoRoom(this.#file)) return error;
    // The system may have dropped data that it couldn't write, so a successful retry would prove nothing.
    return this.#giveUp(NOT_SAVED, { cause: error });
  }

  recover(): void {
    if (this.#trouble !== null) this.#onEvent({ kind: "recovered" });
    this.#trouble = null;
  }

  failed(error: unknown): unknown {
    if (!(error instanceof StoreFileError)) return error;
    const trouble = this.#file === null ? error : nameTrouble(this.#file, error);
    if (this.#trouble?.trouble !== trouble.trouble) this.#onEvent({ kind: "trouble", error: trouble });
    this.#trouble = trouble;
    return trouble;
  }

  refusal(): StoreFileError | null {
    return this.#refusal;
  }

  trouble(): StoreFileError | null {
    return this.#trouble;
  }

  #giveUp(what: string, options?: ErrorOptions): StoreFileError {
    this.#refusal = new StoreFileError("changed", `${this.#file}: ${what}`, options);
    this.#lose(this.#refusal);
    return this.#refusal;
  }
}

function fileIdentity(name: string): string | null {
  const found = statSync(name, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

function nameTrouble(file: string, error: StoreFileError): StoreFileError {
  if (error.trouble === "changed") return error;
  if (error.trouble === "unreadable" && hasNoRoom(file))
    return new StoreFileError("full", `${file}: the disk is full`, { cause: error });
  return new StoreFileError(error.trouble, `${file}: ${error.message}`, { cause: error });
}

export function hasNoRoom(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file));
    return bavail * bsize < ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}
