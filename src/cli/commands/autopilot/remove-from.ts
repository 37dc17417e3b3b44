import { REMOVAL_ROWS } from "../../../bulk/import/check/kinds.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { ImportRow } from "../../../bulk/import/check/row-kind.ts";
import { RefusedError } from "../../../client/errors/status-errors.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../command/deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import type { ImportFlags } from "../../import/import-flags.ts";
import { createMemberSender, toMemberOutcome } from "./import.ts";

export interface RemoveFromOptions {
  readonly input: string;
  readonly platform: Platform;
  readonly flags: ImportFlags;
}

/** `autopilot remove --from`: the bulk form (design: "Bulk import"). */
export async function runRemoveFrom(deps: Deps, { input, platform, flags }: RemoveFromOptions): Promise<ExitCode> {
  const { runImport } = await import("../../import/run-import.ts");
  return runImport(deps, {
    command: `autopilot remove --platform ${platform}`,
    input,
    kind: REMOVAL_ROWS,
    defaults: {},
    decidingColumn: null,
    decided: flags.yes,
    guardAdvice: "say --yes, since everybody in the file leaves Autopilot",
    flags,
    skipSuppressed: false,
    spreadSeconds: null,
    harmfulTwice: false,
    plan: (row) => ({ route: ROUTES.removeMember, placeholders: { platform }, body: toRemovalBody(row) }),
    createSender: (client, signal) =>
      createMemberSender(client, async (row, { meantAt }) => {
        const remove = async (): Promise<RowOutcome> =>
          toMemberOutcome(await client.removeMember(platform, toRemovalBody(row), { signal }), "saved");
        return meantAt === null ? remove() : remove().catch(takeGoneAsRemoved);
      }),
  });
}

/** A former run may have removed them: then nobody is there any more. */
function takeGoneAsRemoved(error: unknown): RowOutcome {
  if (!(error instanceof RefusedError) || error.status !== 404) throw error;
  return { outcome: "saved", personId: null, surveyScheduledAt: null, error: null };
}

/** Exactly one identifier (4.10): the surest that the row has. */
function toRemovalBody({ values }: ImportRow): JsonObject {
  const { person_id: id, email, phone_number: phone } = values;
  if (id !== undefined) return { person_id: id };
  return email === undefined ? { person_phone_number: phone ?? null } : { person_email: email };
}
