import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { HISTORY_FIELDS, HISTORY_FORMATS, HISTORY_STREAMS } from "../../../../service/history/columns.ts";
import { suggest } from "../../../args/suggest.ts";
import { parseOutputFile } from "../../../args/values.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, type DataFileChoice } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeNote } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { HISTORY_SUMMARY, parseExpectations } from "../../../history/summary.ts";
import { parseRename } from "../../../importing/import-flags.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { toShellWord } from "../../../render/safe-text.ts";
import { firstKey, writeKey } from "../../serve/first-key.ts";
import { PLACE, LOCAL_PROJECT, PROJECT_DEFAULT, withStore } from "./data-file.ts";

export const importHistory = defineCommand({
  name: "import",
  summary: "import people, responses and suppressions saved from the closed service",
  examples: [
    "surveyctl service import saved/ --data survey.db",
    "surveyctl service import people.csv responses.ndjson.gz --check",
    "surveyctl service import saved/ --expect nps=51,responses=51 --report refused.ndjson",
    'surveyctl service import dashboard.csv --map "Survey Date=created_at" --unknown properties --tz Europe/Dublin',
  ],
  args: {
    paths: {
      form: "<path...>",
      text: "CSV, JSON and NDJSON files, plain or gzip, folders of them, or - for standard input",
    },
  },
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
  flags: {
    place: PLACE,
    project: LOCAL_PROJECT,
    format: { value: "format", text: "shape of the files", choices: HISTORY_FORMATS, otherwise: "by columns" },
    stream: { value: "stream", text: "content of files, if the columns are ambiguous", choices: HISTORY_STREAMS },
    map: {
      value: "header=column",
      text: 'map a header to a field, such as "E-Mail Address=email"',
      repeatable: true,
      parse: parseFieldRename,
    },
    unknown: {
      value: "policy",
      text: "what to do with response columns that are not fields",
      choices: ["properties", "ignore"],
      otherwise: "ignore, with a note",
    },
    check: { text: "show the counts and how columns are read, and write nothing" },
    onConflict: {
      value: "policy",
      text: "what to do with rows already stored with different content",
      choices: ["keep", "replace"],
      default: "keep",
    },
    updatedAt: {
      value: "time",
      text: "updated_at of imported responses; with now, queries by updated_since find them",
      choices: ["keep", "now"],
      default: "keep",
    },
    expect: {
      value: "figures",
      text: "write only if the files contain these, such as nps=51,responses=51,people=60",
      parse: parseExpectations,
    },
    webhooks: { text: "also send webhook events for imported rows" },
    report: { value: "file", text: "write refused and conflicting rows to an NDJSON file", parse: parseOutputFile },
  },
  columns: HISTORY_SUMMARY,
  run: async (deps, { place, map: renames, expect, ...given }) => {
    const { runHistoryImport } = await import("../../../history/run-history.ts");
    await refuseReport(deps, place, given.report);
    const check = given.check || deps.options.dryRun;
    if (!check && given.project === PROJECT_DEFAULT) await createDataFile(deps, place, given.paths);
    const request = { ...given, renames, check, expectations: expect ?? [] };
    return runHistoryImport(deps, request, (work) =>
      withStore(deps, { ...place, changes: true }, (_, store) => work(store)),
    );
  },
});

async function createDataFile(deps: Deps, choice: DataFileChoice, paths: readonly string[]): Promise<void> {
  const place = await chooseServicePlace(deps, choice);
  if (place.kind === "database" || !place.isNamed || existsSync(place.dataFile)) return;
  // A mistyped name must not create a service.
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

async function refuseReport(deps: Deps, choice: DataFileChoice, report: string | null): Promise<void> {
  if (report === null) return;
  const { isSameFile } = await import("../../../../runtime/files/file-replacement.ts");
  const place = await chooseServicePlace(deps, choice);
  if (place.kind === "file" && (await isSameFile(place.dataFile, report)))
    throw new UsageError(`--report: ${report} is the data file itself; name another file`);
}

function parseFieldRename(text: string): readonly [string, string] {
  const [header, field] = parseRename(text);
  if ((HISTORY_FIELDS as readonly string[]).includes(field)) return [header, field];
  const nearest = suggest(field, HISTORY_FIELDS);
  throw new UsageError(`--map: "${field}" is not a field; the fields are ${HISTORY_FIELDS.join(", ")}`, {
    ...(nearest !== null && { hint: `did you mean ${nearest}?` }),
  });
}
