import { REMOVAL_ROWS } from "../../../bulk/import/check/kinds.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { ImportRow } from "../../../bulk/import/check/row-kind.ts";
import { RefusedError } from "../../../client/errors/status-errors.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { countOf } from "../../command/notes.ts";
import type { Deps } from "../../command/deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import type { ImportFlags } from "../../import/import-flags.ts";
import { createMemberSender, toMemberOutcome } from "./import.ts";

export interface RemoveFromOptions {
  readonly input: string;
  readonly platform: Platform;
  readonly flags: ImportFlags;
}

/** `autopilot remove --from`: the bulk form. */
export async function runRemoveFrom(deps: Deps, { input, platform, flags }: RemoveFromOptions): Promise<ExitCode> {
  const { runImport } = await import("../../import/run-import.ts");
  return runImport(deps, {
    command: `autopilot remove --platform ${platform}`,
    recordName: "autopilot-remove",
    input,
    kind: REMOVAL_ROWS,
    defaults: {},
    overrides: {},
    consentColumn: null,
    consented: flags.yes,
    guardAdvice: "removes every person in the file from Autopilot: pass --yes",
    question: (rows) => `Remove ${countOf(rows, "person", "people")} from Autopilot (${platform})?`,
    savedWord: "removed",
    flags,
    skipSuppressed: false,
    spreadSeconds: null,
    repeatDoesHarm: false,
    plan: (row) => ({ route: ROUTES.removeMember, placeholders: { platform }, body: toRemovalBody(row) }),
    createSender: (client, signal) =>
      createMemberSender(client, (row, { previousIntentAt }) =>
        client.removeMember(platform, toRemovalBody(row), { signal }).then(
          (result) => toMemberOutcome(result, "saved"),
          (error: unknown) => takeAbsent(error, platform, previousIntentAt !== null),
        ),
      ),
  });
}

/** Whoever is no member needs no removal; a previous run may have removed them. Rethrows any other refusal. */
function takeAbsent(error: unknown, platform: Platform, wasSent: boolean): RowOutcome {
  if (!(error instanceof RefusedError) || error.status !== 404) throw error;
  const outcome = { personId: null, surveyScheduledAt: null };
  if (wasSent) return { ...outcome, outcome: "saved", error: null };
  return { ...outcome, outcome: "skipped", error: `not in Autopilot (${platform}); nothing to remove` };
}

/**
 * Exactly one identifier (4.10). An address or a number goes before an id: an export that is used elsewhere holds ids that
 * mean other people there.
 */
function toRemovalBody({ values }: ImportRow): JsonObject {
  const { person_id: id, email, phone_number: phone } = values;
  if (email !== undefined) return { person_email: email };
  return phone === undefined ? { person_id: id ?? null } : { person_phone_number: phone };
}
