import type { ForeignOutboxError } from "../../../service/sending/outbox.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";

export async function asCliError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw await asDataFileError(error);
  }
}

const OUTBOX_HINTS: Readonly<Record<ForeignOutboxError["reason"], string>> = {
  link: "name the folder that it leads to",
  file: "name another folder",
  open: "surveys would be written there; remove it, or chmod 700 it if it is yours",
};

const DATABASE_HINTS: Readonly<Record<string, string>> = {
  older: "run surveyctl service migrate",
  empty: "correct the URL; without --must-exist, serve creates the service in it",
};

export async function asDataFileError(error: unknown): Promise<unknown> {
  const { StoreDatabaseError, StoreFileError } = await import("../../../service/store/store-errors.ts");
  const outbox = await import("../../../service/sending/outbox.ts");
  const { CopyFailedError, FileChoiceError } = await import("../../../service/data-file/backup.ts");
  if (error instanceof FileChoiceError) return new UsageError(error.message, { cause: error });
  if (error instanceof CopyFailedError) return new DataFileError("copy_failed", error.message, { cause: error });
  if (error instanceof StoreDatabaseError) {
    const hint = DATABASE_HINTS[error.trouble];
    return new DataFileError("bad_database", error.message, { ...(hint && { hint }), cause: error });
  }
  if (error instanceof StoreFileError) return new DataFileError("bad_data_file", error.message, { cause: error });
  if (error instanceof outbox.ForeignOutboxError) {
    return new DataFileError("foreign_outbox", error.message, { hint: OUTBOX_HINTS[error.reason], cause: error });
  }
  const { DomainError, UnavailableError } = await import("../../../service/domain/errors.ts");
  if (error instanceof DomainError)
    return new DataFileError("refused", error.message, { exit: EXIT.refused, cause: error });
  if (error instanceof UnavailableError) return new DataFileError("unavailable", error.message, { cause: error });
  return error;
}
