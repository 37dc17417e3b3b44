import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { MEMBERS, REMOVED_MEMBER } from "../../render/resources.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { confirmRemoval } from "../../kit/removal.ts";
import { showOutcome, writeDryRun } from "../../kit/write-outcome.ts";
import { IMPORT, IMPORT_EXITS, type ImportFlags } from "../../importing/import-flags.ts";
import { withRefusals } from "../../kit/refusals.ts";
import { MEMBER, type MemberIdentifiers, PLATFORM, toMemberParameters } from "./member-identifiers.ts";
import { REMOVAL_ROWS } from "../../../bulk/import/check/kinds.ts";
import type { RowOutcome } from "../../../bulk/import/journal/outcome.ts";
import type { ImportRow } from "../../../bulk/import/check/row-kind.ts";
import { RefusedError } from "../../../client/errors/call-errors.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { createBreaker, toOutcome } from "../../importing/row-senders.ts";
import { exactlyOnePerson, personText } from "../shared/find-person.ts";
import { memberParts, toMemberOutcome } from "./import.ts";

export const remove = defineCommand({
  name: "remove",
  summary: "remove a person from Autopilot and cancel scheduled surveys; person and responses stay",
  examples: [
    "surveyctl autopilot remove --email ada@example.com --yes",
    "surveyctl autopilot remove --platform sms --phone +14155550101 --dry-run",
  ],
  exits: IMPORT_EXITS,
  flags: {
    platform: PLATFORM,
    member: MEMBER,
    input: {
      flag: "--from",
      value: "file",
      text: "remove everyone in a CSV file, or - for standard input; takes the flags of import",
      conflicts: ["--person-id", "--email", "--phone"],
    },
    flags: IMPORT,
  },
  columns: REMOVED_MEMBER,
  run: (deps, { platform, member, input, flags }) =>
    input === null ? removeMember(deps, platform, member, flags.yes) : removeFrom(deps, platform, input, flags),
});

async function removeMember(
  deps: Deps,
  platform: Platform,
  member: MemberIdentifiers,
  yes: boolean,
): Promise<ExitCode> {
  const who = personText(exactlyOnePerson(member));
  const body = toMemberParameters(member);
  return withClient(deps, async (client) => {
    if (deps.options.dryRun) {
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.removeMember, placeholders: { platform }, body });
      return EXIT.done;
    }
    client.checkMayWrite();
    const words = `${who} is not in Autopilot (${platform})`;
    const hint = `surveyctl autopilot list --platform ${platform} shows who is`;
    await confirmRemoval(deps, { command: "autopilot remove", yes, kept: "Nothing was sent." }, async () => {
      const members = await client.listMembers(platform, { ...body, per_page: 1 }, { signal: deps.signal }).next();
      if (members.done === true || members.value.rows.length === 0) throw new NothingFoundError(words, hint);
      return `Remove ${who} from Autopilot (${platform}) at ${client.baseUrl}?`;
    });
    const write = withRefusals(client.removeMember(platform, body, { signal: deps.signal }), [
      { status: 404, inJson: true, words, hint },
    ]);
    const evidence = `look with "surveyctl autopilot list --platform ${platform}"; removing again is safe`;
    return showOutcome(deps, write, { answer: REMOVED_MEMBER, found: MEMBERS, evidence });
  });
}

async function removeFrom(deps: Deps, platform: Platform, input: string, flags: ImportFlags): Promise<ExitCode> {
  const { runImport } = await import("../../importing/run-import.ts");
  return runImport(deps, {
    command: `autopilot remove --platform ${platform}`,
    input,
    kind: REMOVAL_ROWS,
    isRemoval: true,
    consent: { isGiven: flags.yes, advice: "removes every person in the file from Autopilot: pass --yes" },
    question: (rows) => `Remove ${countOf(rows, "person", "people")} from Autopilot (${platform})?`,
    flags,
    plan: (row) => ({ route: ROUTES.removeMember, placeholders: { platform }, body: toRemovalBody(row) }),
    createSender: (client, signal) => {
      const breaker = createBreaker();
      const removeRow = (row: ImportRow, wasSent: boolean): Promise<RowOutcome> =>
        client.removeMember(platform, toRemovalBody(row), { signal }).then(
          (result) => toMemberOutcome(result, "saved"),
          (error: unknown) => takeAbsent(error, platform, wasSent),
        );
      return {
        ...memberParts(client),
        send: (row) => breaker.outcomeOf(row, removeRow(row, row.previousIntentAt !== null)),
      };
    },
  });
}

/**
 * The service answers 404 for someone who isn't a member. If an earlier attempt was sent, it may have removed the
 * person, so that counts as done.
 */
function takeAbsent(error: unknown, platform: Platform, wasSent: boolean): RowOutcome {
  if (!(error instanceof RefusedError) || error.status !== 404) throw error;
  if (wasSent) return toOutcome("saved");
  return toOutcome("skipped", { error: `not in Autopilot (${platform}); nothing to remove` });
}

/** Uses exactly one identifier (4.10), preferably the address, because the id may come from another service. */
function toRemovalBody({ values }: ImportRow): JsonObject {
  const { person_id: id, email, phone_number: phone } = values;
  if (email !== undefined) return { person_email: email };
  return phone === undefined ? { person_id: id ?? null } : { person_phone_number: phone };
}
