import type { Command } from "commander";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { type EmailOrPhone, parsePerson } from "../../../args/people.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, writeDone, writeNote, writeWarning } from "../../../command/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../../command/removal.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import type { ErasureInfo } from "../../../../service/admin/privacy/commands.ts";
import { DATA_FLAGS } from "../../../command/data-place.ts";
import { type ProjectChoice, readProject, showRecord, noteDataFile, withAdmin } from "../data/data-file.ts";
import { ERASURE } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";

interface EraseOptions extends ProjectChoice {
  readonly person: EmailOrPhone;
  readonly allProjects: boolean;
  readonly properties: boolean;
  readonly forgetUnsubscribe: boolean;
  readonly yes: boolean;
}

async function runErase(deps: Deps, { project, person, data, yes, ...options }: EraseOptions): Promise<ExitCode> {
  checkColumns(deps, ERASURE);
  const { allProjects, properties, forgetUnsubscribe } = options;
  const { dryRun } = deps.options;
  const address = "email" in person ? person.email : person.phone_number;
  const command = {
    kind: "erase",
    project: allProjects ? null : project,
    email: "email" in person ? person.email : null,
    phoneNumber: "email" in person ? null : person.phone_number,
    properties,
    forgetUnsubscribe,
  } as const;
  // The command itself counts without changing anything.
  const counting = { ...deps, options: { ...deps.options, dryRun: false } };
  const choice = dryRun ? { data } : await noteDataFile(deps, { data });
  const run = (tries: boolean): Promise<ErasureInfo> =>
    withAdmin(counting, choice, (admin) => admin({ ...command, dryRun: tries }));
  const where = allProjects ? "all projects" : `project ${project}`;
  const removal = { command: "service erase", yes, kept: "Nothing was erased." };
  await confirmRemoval(deps, removal, async () => `Erase ${address} from ${where}: ${listCounts(await run(true))}?`);
  const { problem, ...receipt } = await run(dryRun);
  await showRecord(deps, ERASURE, receipt);
  if (problem !== null)
    throw new DataFileError("erasure_incomplete", `the rows are erased, but ${problem}`, {
      hint: "until this is repaired a backup can bring the person back; then any other service command finishes it",
    });
  await advise(deps, receipt, options);
  return EXIT.done;
}

/** `1 person, 3 responses, 2 surveys`. */
function listCounts({ people, responses, surveys }: ErasureInfo): string {
  return [
    countOf(people, "person", "people"),
    countOf(responses, "response", "responses"),
    countOf(surveys, "survey", "surveys"),
  ].join(", ");
}

/** Says what is left to do, without the address: the lines may be kept with the receipt. */
async function advise(
  deps: Deps,
  receipt: Omit<ErasureInfo, "problem">,
  { allProjects, properties }: Pick<EraseOptions, "allProjects" | "properties">,
): Promise<void> {
  const { people, surveys, mentions, messages, verified, erased_at: erasedAt } = receipt;
  if (people === 0)
    await writeNote(
      deps,
      "no person found with this address: only rows of others mention it, or an unsubscribe or a digest is kept",
    );
  if (mentions > 0 && !properties)
    await writeNote(
      deps,
      `${countOf(mentions, "row", "rows")} of other people mention the address; --properties takes it out of them`,
    );
  if (erasedAt === null) return writeDone(deps, "Nothing was changed.");
  if (messages === null && surveys > 0)
    await writeNote(deps, "messages in the outbox are removed while the service runs");
  if (verified === null)
    await writeNote(deps, "PostgreSQL keeps deleted rows until VACUUM, and its log as long as it is retained");
  if (verified === false) await writeWarning(deps, `traces are left in the data file${placesLeft(allProjects)}`);
  await writeDone(deps, "Erased. A restore or an import will not bring the person back.");
  await writeDone(
    deps,
    "Not erased: copies outside the service. Remove exports, import files with their results and journals, reports, " +
      "previews, backups, and copies of the outbox.",
  );
}

function placesLeft(allProjects: boolean): string {
  const vacuum = "`surveyctl service vacuum` writes the file anew";
  return allProjects ? `; ${vacuum}` : `: in another project, which --all-projects erases too, or deleted; ${vacuum}`;
}

const FLAGS: readonly FlagRecord[] = [
  ...DATA_FLAGS,
  // Without a default of its own: it is told from one that was typed.
  { flag: "--project", value: "name", text: "project name", otherwise: "default" },
  { flag: "--all-projects", text: "erase from every project" },
  { flag: "--properties", text: "also remove the address from other people's rows" },
  { flag: "--forget-unsubscribe", text: "keep no hash of an unsubscribed address; it may be sent surveys again" },
  YES_FLAG,
];

export function registerErase(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "erase",
    summary: "erase a person and everything that belongs to them, and print a receipt",
    operands: [["<email|phone>", "address or number of the person"]],
    examples: [
      "surveyctl service erase ada@example.com --dry-run",
      "surveyctl service erase +14155550000 --all-projects --yes --data survey.db --json > receipt.json",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: FLAGS,
    columns: ERASURE,
  });
  context.action(verb, (deps, flags, [person = ""]) => {
    const allProjects = flags.is("--all-projects");
    if (allProjects && flags.text("--project") !== null)
      throw new UsageError("--project and --all-projects cannot be used together");
    return runErase(deps, {
      ...readProject(flags),
      person: parsePerson(person, "email|phone"),
      allProjects,
      properties: flags.is("--properties"),
      forgetUnsubscribe: flags.is("--forget-unsubscribe"),
      yes: flags.is("--yes"),
    });
  });
}
