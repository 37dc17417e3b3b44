/** How a single write ended, told on stdout, stderr and by the exit status. */
import type { WriteResult } from "../../client/client.ts";
import { mayHaveArrived } from "../../client/errors/may-have-arrived.ts";
import { UnknownOutcomeError } from "../../client/errors/unknown-outcome-error.ts";
import type { Deps } from "./deps.ts";
import { InterruptedError } from "../errors/interrupted-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import { writeRecord } from "../render/record-output.ts";
import { writeNote } from "./notes.ts";

export interface OutcomeOptions {
  /** What the answer is shown as. */
  readonly answer: Resource;
  /** What a look-up found is shown as, when the answer was lost. */
  readonly found: Resource;
  /** Where to look when it is unknown whether the write arrived. */
  readonly evidence: string;
}

/** Throws UnknownOutcomeError when it is unknown whether the write arrived, InterruptedError when a signal ended the wait for it. */
export async function showOutcome(
  deps: Deps,
  write: Promise<WriteResult>,
  { answer, found, evidence }: OutcomeOptions,
): Promise<ExitCode> {
  const result = await write.catch((error: unknown) => {
    if (error instanceof InterruptedError)
      throw new InterruptedError(error.signal, `the request may have been processed: ${evidence}`);
    // Retried until no try was left, since a repeat is safe; any of them may have done it.
    throw mayHaveArrived(error) ? new UnknownOutcomeError(error, null).advise(evidence) : error;
  });
  if (result.kind === "unknown") throw result.error.advise(evidence);
  if (result.kind === "answered") {
    await writeRecord(deps, answer, result.reply);
    return EXIT.done;
  }
  await writeRecord(deps, found, { json: result.found, text: JSON.stringify(result.found) });
  await writeNote(deps, `the answer was lost, but the request arrived: ${result.evidence}`);
  return EXIT.done;
}
