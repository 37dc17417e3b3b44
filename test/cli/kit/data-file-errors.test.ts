import { expect, test } from "vitest";
import { asCliError } from "../../../src/cli/kit/data/data-file-errors.ts";
import { CopyFailedError, FileChoiceError } from "../../../src/service/data-file/backup.ts";

test.each([
  [new FileChoiceError("b.db already exists"), { name: "UsageError", message: "b.db already exists" }],
  [
    new CopyFailedError("cannot write b.db: the disk is full"),
    { name: "DataFileError", code: "copy_failed", message: "cannot write b.db: the disk is full", exit: 1 },
  ],
])(
  "when the service throws %s, then the command ends with a sentence and a status of its own",
  async (thrown, told) => {
    await expect(asCliError(() => Promise.reject(thrown))).rejects.toMatchObject(told);
  },
);
