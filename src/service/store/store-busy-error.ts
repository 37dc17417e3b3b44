/** Another living process owns the data file. */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusyError";
  readonly file: string;
  /** The owner's process id; null when it cannot be told. */
  readonly pid: number | null;

  constructor(file: string, pid: number | null, options?: ErrorOptions) {
    super(`${file} is in use by ${pid === null ? "another process" : `process ${pid}`}`, options);
    this.file = file;
    this.pid = pid;
  }
}
