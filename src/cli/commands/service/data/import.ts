import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { HISTORY_FIELDS, HISTORY_FORMATS, HISTORY_STREAMS } from "../../../../service/history/columns.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { suggest } from "../../../args/suggest.ts";
import { parseChoice, parseOutputFile } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { parseRename } from "../../../import/import-flags.ts";
import type { HistoryRequest } from "../../../import/history/run-history.ts";
import { HISTORY_SUMMARY, parseExpectations } from "../../../import/history/summary.ts";
import { toShellWord } from "../../../render/safe-text.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import { firstKey, writeKey } from "../../serve/first-key.ts";
import { writeNote } from "../../../command/notes.ts";
import { chooseServicePlace } from "../../../command/data-place.ts";
import { PROJECT_DEFAULT, PROJECT_FLAGS, type ProjectChoice, readProject, withAdmin } from "./data-file.ts";

const UNKNOWN = ["properties", "ignore"] as const;
const POLICIES = ["keep", "replace"] as const;
const UPDATED_AT = ["keep", "now"] as const;

const FLAGS: readonly FlagRecord[] = [
  { flag: "--format", value: "format", text: "shape of the files", choices: HISTORY_FORMATS, otherwise: "by columns" },
  {
    flag: "--stream",
    value: "stream",
    text: "content of files, if the columns are ambiguous",
    choices: HISTORY_STREAMS,
  },
  {
    flag: "--map",
    value: "header=column",
    text: 'map a header to a field, such as "E-Mail Address=email"',
    repeatable: true,
  },
  {
    flag: "--unknown",
    value: "policy",
    text: "columns of responses that are not fields",
    choices: UNKNOWN,
    otherwise: "ignore, with a note",
  },
  { flag: "--check", text: "read, count and show the mapping, and write nothing" },
  {
    flag: "--on-conflict",
    value: "policy",
    text: "rows that are already stored with other content",
    choices: POLICIES,
    default: "keep",
  },
  {
    flag: "--updated-at",
    value: "time",
    text: "updated_at of imported responses; now: queries by updated_since find them",
    choices: UPDATED_AT,
    default: "keep",
  },
  {
    flag: "--expect",
    value: "figures",
    text: "write only if the files contain these, such as nps=51,responses=51,people=60",
  },
  { flag: "--webhooks", text: "send webhook events for what is stored; without it, none" },
  { flag: "--report", value: "file", text: "write refused and conflicting rows to an NDJSON file" },
];

async function runServiceImport(deps: Deps, options: ProjectChoice & HistoryRequest): Promise<ExitCode> {
  const { runHistoryImport } = await import("../../../import/history/run-history.ts");
  const { data, ...request } = options;
  await refuseReport(deps, options);
  const check = request.check || deps.options.dryRun;
  if (!check && options.project === PROJECT_DEFAULT) await createDataFile(deps, options);
  return runHistoryImport(deps, { ...request, check }, (work) => withAdmin(deps, { data }, work));
}

/** As `serve` creates it, with a key; nothing if it exists, or if no file is named. */
async function createDataFile(deps: Deps, { data, paths }: ProjectChoice & HistoryRequest): Promise<void> {
  const place = await chooseServicePlace(deps, { data });
  if (place.kind === "database" || !place.isNamed || existsSync(place.dataFile)) return;
  // A mistyped name must not leave a new service behind.
  for (const file of paths) if (file !== "-") await stat(file);
  const { openForCommand } = await import("../../../../service/data-file/administer.ts");
  const { dataFile } = place;
  const base = await asCliError(() => openForCommand({ dataFile, clock: deps.clock, random: deps.random }));
  try {
    const key = await firstKey(deps, base);
    if (key === null) return;
    const next = `surveyctl serve --data ${toShellWord(dataFile)}`;
    if (deps.options.output !== "json")
      return await writeKey(deps, { data: dataFile, key }, ["Next:", "", `  ${next}`]);
    const loud = { ...deps, options: { ...deps.options, quiet: false } };
    await writeNote(loud, `created ${dataFile} (project "default"); API key, shown once: ${key}; next: ${next}`);
  } finally {
    await base.store.close();
  }
}

/** It is moved into place at the end, over whatever is there. */
async function refuseReport(deps: Deps, { data, report }: ProjectChoice & HistoryRequest): Promise<void> {
  if (report === null) return;
  const { isSameFile } = await import("../../../../runtime/files/file-replacement.ts");
  const place = await chooseServicePlace(deps, { data });
  if (place.kind === "file" && (await isSameFile(place.dataFile, report)))
    throw new UsageError(`--report: ${report} is the data file itself; name another file`);
}

export function registerImport(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "import",
    summary: "import people, responses and suppressions saved from the closed service",
    operands: [["<path...>", "CSV, JSON and NDJSON files, plain or gzip, folders of them, or - for standard input"]],
    examples: [
      "surveyctl service import saved/ --data survey.db",
      "surveyctl service import people.csv responses.ndjson.gz --check",
      "surveyctl service import saved/ --expect nps=51,responses=51 --report refused.ndjson",
      'surveyctl service import dashboard.csv --map "Survey Date=created_at" --unknown properties --tz Europe/Dublin',
    ],
    exits: [
      EXIT.done,
      EXIT.failed,
      EXIT.usage,
      EXIT.partial,
      EXIT.refused,
      EXIT.assertion,
      EXIT.interrupted,
      EXIT.terminated,
    ],
    flags: [...PROJECT_FLAGS, ...FLAGS],
    columns: HISTORY_SUMMARY,
  });
  context.action(verb, (deps, flags, paths) =>
    runServiceImport(deps, {
      ...readProject(flags),
      paths,
      format: flags.parse("--format", (text, flag) => parseChoice(text, flag, HISTORY_FORMATS)),
      stream: flags.parse("--stream", (text, flag) => parseChoice(text, flag, HISTORY_STREAMS)),
      renames: flags.all("--map").map(parseFieldRename),
      unknown: flags.parse("--unknown", (text, flag) => parseChoice(text, flag, UNKNOWN)),
      check: flags.is("--check"),
      onConflict: flags.parse("--on-conflict", (text, flag) => parseChoice(text, flag, POLICIES)) ?? "keep",
      updatedAt: flags.parse("--updated-at", (text, flag) => parseChoice(text, flag, UPDATED_AT)) ?? "keep",
      webhooks: flags.is("--webhooks"),
      expectations: flags.parse("--expect", parseExpectations) ?? [],
      report: flags.parse("--report", parseOutputFile),
    }),
  );
}

function parseFieldRename(text: string): readonly [string, string] {
  const [header, field] = parseRename(text);
  if ((HISTORY_FIELDS as readonly string[]).includes(field)) return [header, field];
  const nearest = suggest(field, HISTORY_FIELDS);
  throw new UsageError(`--map: "${field}" is not a field; the fields are ${HISTORY_FIELDS.join(", ")}`, {
    ...(nearest !== null && { hint: `did you mean ${nearest}?` }),
  });
}
