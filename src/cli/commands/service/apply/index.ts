import path from "node:path";
import type { Command } from "commander";
import type { Json } from "../../../../contract/json.ts";
import type { ConfiguredInfo } from "../../../../service/admin/settings/commands.ts";
import { nameOfInput, readTextInput } from "../../../args/text-file.ts";
import { formatDuration } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, writeDone, writeNote } from "../../../command/notes.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showList, withAdmin } from "../data/data-file.ts";
import { SETTING_CHANGES } from "../service-resources.ts";

interface ApplyOptions extends ProjectChoice {
  /** A path, or `-` for standard input. */
  readonly file: string;
}

/** Makes the settings as the file has them, and shows what differs; with `--dry-run` that alone. */
async function runApply(deps: Deps, { file, project, ...choice }: ApplyOptions): Promise<ExitCode> {
  const { dryRun } = deps.options;
  const given = await readTextInput(deps.streams.in, file);
  const { readSettingsFile } = await import("./settings-file.ts");
  const { wanted, fail } = await readSettingsFile(nameOfInput(file), given, file === "-" ? "." : path.dirname(file));
  const acting = { ...deps, options: { ...deps.options, dryRun: false } };
  const done = await withAdmin(acting, choice, (admin) => admin({ kind: "configure", project, wanted, dryRun }));
  if (done.refused !== null) throw fail(done.refused.path, done.refused.text);
  await showChanges(deps, done);
  const count = countOf(done.changes.length, "setting", "settings");
  if (done.changes.length === 0) await writeDone(deps, "Nothing to change.");
  else if (dryRun) await writeDone(deps, `${count} would change. Nothing was changed.`);
  else await writeDone(deps, `Changed ${count} of project ${project}.`);
  return EXIT.done;
}

/** One row a key; the secrets of new webhooks where there are any. */
async function showChanges(deps: Deps, { changes, secrets }: ConfiguredInfo): Promise<void> {
  const rows = changes.map(({ key, from, to }) => {
    const change = from === null ? "add" : to === null ? "remove" : "change";
    return { change, key, from: toText(key, from), to: toText(key, to) };
  });
  const added = secrets.map(({ url, secret }) => ({
    change: "add",
    key: `webhooks[${JSON.stringify(url)}].secret`,
    from: null,
    to: secret,
  }));
  await showList(deps, SETTING_CHANGES, [...rows, ...added], { wrap: true });
  if (added.length > 0) await writeNote(deps, "save each webhook's secret now; it is not shown again");
}

/** Durations as they are typed. */
function toText(key: string, value: Json): Json {
  return typeof value === "number" && /^throttle$|\.frequency$|\.after$/.test(key) ? formatDuration(value) : value;
}

export function registerApply(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "apply",
    summary: "apply a project's settings from a YAML file, and show what changes",
    operands: [["<file>", "file of `service settings -o yaml`, or - for standard input"]],
    examples: [
      "surveyctl service apply survey.yaml --dry-run --data survey.db",
      "surveyctl service settings -o yaml | surveyctl service apply - --project acme",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
    flags: [...PROJECT_FLAGS, { flag: "--dry-run", text: "show what would change, and change nothing" }],
    columns: SETTING_CHANGES,
  });
  context.action(verb, (deps, flags, [file = ""]) => runApply(deps, { ...readProject(flags), file }));
}
