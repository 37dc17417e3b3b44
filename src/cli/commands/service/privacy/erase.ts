import type { Admin, ResultOf } from "../../../../service/operations/index.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { parsePerson } from "../../../args/people.ts";
import type { Deps } from "../../../kit/deps.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { writeDone, writeNote, writeWarning } from "../../../kit/notes.ts";
import { rejectRemoteFlags } from "../../../kit/data/data-place.ts";
import { YES_FLAG } from "../../../kit/removal.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { callConfirmed, PLACE, PROJECT, showRecord, withAdmin, withoutDryRun, withStore } from "../data/data-file.ts";
import { toResource } from "../../../render/columns.ts";

const ERASURE = toResource("settings", OUTPUTS.erase);

type Erasure = ResultOf<"erase">;

export const erase = defineCommand({
  name: "erase",
  summary: "erase a person and everything that belongs to them, and print a receipt",
  examples: [
    "surveyctl service erase ada@example.com --dry-run",
    "surveyctl service erase +14155550000 --all-projects --yes --data survey.db --json > receipt.json",
  ],
  args: {
    person: {
      form: "<email|phone>",
      text: "address or number of the person",
      parse: (text: string) => parsePerson(text, "email|phone"),
    },
  },
  operation: "erase",
  flags: {
    place: PLACE,
    project: { ...PROJECT, conflicts: ["--all-projects"] },
    allProjects: { text: "erase from every project" },
    properties: { text: "also remove the address from other people's rows" },
    forget_unsubscribe: { text: "keep no hash of an unsubscribed address, so that it can get surveys again" },
    yes: YES_FLAG,
  },
  columns: ERASURE,
  run: async (deps, { place, person, project: named, allProjects, yes, ...options }) => {
    const { dryRun } = deps.options;
    const counting = withoutDryRun(deps);
    const removal = { command: "service erase", yes, kept: "Nothing was erased." };
    const eraseFrom = (admin: Admin, project: string | null): Promise<Erasure> =>
      callConfirmed(deps, admin, { kind: "erase", project, ...person, ...options, dry_run: dryRun }, removal);
    const choice = { ...place, changes: !dryRun };
    if (allProjects) rejectRemoteFlags(deps, place);
    const { problem, ...receipt } = allProjects
      ? await withStore(counting, choice, (admin) => eraseFrom(admin, null))
      : await withAdmin(counting, choice, named, (admin, project) => eraseFrom(admin, named ?? project));
    await showRecord(deps, ERASURE, receipt);
    if (problem !== null)
      throw new DataFileError("erasure_incomplete", `the rows are erased, but ${problem}`, {
        hint: "until this is repaired a backup can bring the person back; then any other service command finishes it",
      });
    await advise(deps, receipt, options.properties);
  },
});

/** Doesn't print the erased address, because the output may be kept with the receipt. */
async function advise(deps: Deps, receipt: Omit<Erasure, "problem">, properties: boolean): Promise<void> {
  const { people, surveys, mentions, messages, verified, erased_at: erasedAt } = receipt;
  if (people === 0)
    await writeNote(
      deps,
      "no person found with this address: only rows of others mention it, or an unsubscribe or a digest is kept",
    );
  if (mentions > 0 && !properties)
    await writeNote(
      deps,
      `${countOf(mentions, "row")} of other people mention the address; --properties takes it out of them`,
    );
  if (erasedAt === null) return writeDone(deps, "Nothing was changed.");
  if (messages === null && surveys > 0)
    await writeNote(deps, "messages in the outbox are removed while the service runs");
  if (verified === null)
    await writeNote(deps, "PostgreSQL keeps deleted rows until VACUUM, and its log as long as it is retained");
  if (verified === false)
    await writeWarning(
      deps,
      "deleted text may be left in the log of the data file, which another program is reading; a running `serve` " +
        "empties it within the hour, `surveyctl service vacuum` now",
    );
  await writeDone(deps, "Erased. A restore or an import will not bring the person back.");
  await writeDone(
    deps,
    "Not erased: copies outside the service. Remove exports, import files with their results and journals, reports, " +
      "previews, backups, and copies of the outbox.",
  );
}
