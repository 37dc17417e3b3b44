import path from "node:path";
import type { ResultOf } from "../../../../service/operations/index.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { nameOfInput, readTextInput } from "../../../args/text-file.ts";
import { parseChoices } from "../../../args/values.ts";
import type { Deps } from "../../../kit/deps.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { writeDone, writeNote } from "../../../kit/notes.ts";
import { YES_FLAG } from "../../../kit/removal.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { chooseFormat } from "../../../render/list-output.ts";
import { callConfirmed, PLACE, PROJECT, showList, withAdmin, withoutDryRun } from "../data/data-file.ts";
import { toResource } from "../../../render/columns.ts";

const SETTING_CHANGES = toResource("settings", OUTPUTS.apply);

export const apply = defineCommand({
  name: "apply",
  summary: "apply a project's settings from a YAML file, and show what changes",
  examples: [
    "surveyctl service apply survey.yaml --dry-run --data survey.db",
    "surveyctl service apply survey.yaml --only texts,questions",
    "surveyctl service settings -o yaml | surveyctl service apply - --project acme --yes",
  ],
  args: {
    file: { form: "<file>", text: "a file like the output of `service settings -o yaml`, or - for standard input" },
  },
  operation: "apply",
  flags: {
    place: PLACE,
    project: PROJECT,
    only: { value: "names", text: "apply only these sections of the file, such as texts,questions", repeatable: true },
    dryRun: { text: "show what would change, without changing anything" },
    yes: YES_FLAG,
  },
  columns: SETTING_CHANGES,
  run: async (deps, { place, project, file, only, yes }) => {
    const { dryRun } = deps.options;
    const given = await readTextInput(deps.streams.in, file);
    const { readSettingsFile, SECTIONS } = await import("./settings-file.ts");
    const sections = only.length === 0 ? SECTIONS : parseChoices(only, "--only", SECTIONS);
    const read = await readSettingsFile(nameOfInput(file), given, file === "-" ? "." : path.dirname(file));
    const wanted = Object.fromEntries(Object.entries(read.wanted).filter(([section]) => sections.includes(section)));
    const removal = { command: "service apply", yes, kept: "Nothing was changed.", isList: true };
    const choice = { ...place, changes: !dryRun };
    await withAdmin(withoutDryRun(deps), choice, project, async (admin, name) => {
      const call = { kind: "apply", project, file: wanted, dry_run: dryRun } as const;
      const rows = await callConfirmed(deps, admin, call, removal).catch(async (error: unknown) => {
        const { InvalidError } = await import("../../../../service/domain/errors.ts");
        const [refused] = error instanceof InvalidError ? Object.entries(error.errors) : [];
        throw refused === undefined ? error : read.fail(refused[0].split("."), refused[1].join("; "));
      });
      await showDone(deps, name, rows);
    });
  },
});

async function showDone(deps: Deps, project: string, rows: ResultOf<"apply">): Promise<void> {
  const isSecret = ({ key }: (typeof rows)[number]): boolean => /^webhooks\[.*\]\.secret$/.test(key);
  const changes = rows.filter((row) => !isSecret(row)).length;
  const count = countOf(changes, "setting");
  if (rows.length > 0 || chooseFormat(deps) !== "table") await showList(deps, SETTING_CHANGES, rows, { wrap: true });
  if (rows.some(isSecret)) await writeNote(deps, "save each webhook's secret now; it is not shown again");
  if (changes === 0) await writeDone(deps, "Nothing to change.");
  else if (deps.options.dryRun) await writeDone(deps, `${count} would change. Nothing was changed.`);
  else await writeDone(deps, `Changed ${count} of project ${project}.`);
}
