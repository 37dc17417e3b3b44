import path from "node:path";
import type { Json } from "../../../../contract/json.ts";
import type { ResultOf } from "../../../../service/operations/index.ts";
import { nameOfInput, readTextInput } from "../../../args/text-file.ts";
import { formatDuration } from "../../../../contract/text/duration.ts";
import { parseChoices } from "../../../args/values.ts";
import type { Deps } from "../../../kit/deps.ts";
import { countOf } from "../../../../contract/text/count.ts";
import { writeDone, writeNote } from "../../../kit/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../../kit/removal.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { chooseFormat } from "../../../render/list-output.ts";
import { PLACE, PROJECT, showList, withAdmin } from "../data/data-file.ts";
import { toResource } from "../service-resources.ts";

const SETTING_CHANGES = toResource("settings", { change: "text", key: "text", from: "text", to: "text" });

type Configured = ResultOf<"configure">;

export const apply = defineCommand({
  name: "apply",
  summary: "apply a project's settings from a YAML file, and show what changes",
  examples: [
    "surveyctl service apply survey.yaml --dry-run --data survey.db",
    "surveyctl service apply survey.yaml --only texts,questions",
    "surveyctl service settings -o yaml | surveyctl service apply - --project acme --yes",
  ],
  args: { file: { form: "<file>", text: "file of `service settings -o yaml`, or - for standard input" } },
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
  flags: {
    place: PLACE,
    project: PROJECT,
    only: {
      flag: "--only",
      value: "names",
      text: "apply only these sections of the file, such as texts,questions",
      repeatable: true,
    },
    dryRun: { flag: "--dry-run", text: "show what would change, and change nothing" },
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
    const acting = { ...deps, options: { ...deps.options, dryRun: false } };
    let confirmed: readonly string[] | null = yes ? null : [];
    for (;;) {
      const call = { kind: "configure", project, wanted, confirmed, dry_run: dryRun } as const;
      const done = await withAdmin(acting, { ...place, changes: !dryRun }, project, (admin) => admin(call));
      if (done.refused !== null) throw read.fail(done.refused.path, done.refused.text);
      if (done.isApplied || dryRun) return showDone(deps, project ?? "default", done);
      const removal = { command: "service apply", yes, kept: "Nothing was changed.", isList: true };
      await confirmRemoval(
        deps,
        removal,
        () => `Remove ${done.removed.map(describeRemoved).join(", ")} from project ${project ?? "default"}?`,
      );
      confirmed = done.removed;
    }
  },
});

function describeRemoved(entry: string): string {
  if (entry.startsWith("questions[")) return `${entry} (it is retired)`;
  return entry.startsWith("webhooks[") ? `${entry} with its secret` : entry;
}

async function showDone(deps: Deps, project: string, done: Configured): Promise<void> {
  const count = countOf(done.changes.length, "setting", "settings");
  const isNothing = done.changes.length === 0;
  if (!isNothing || chooseFormat(deps) !== "table") await showChanges(deps, done);
  if (isNothing) await writeDone(deps, "Nothing to change.");
  else if (done.isApplied) await writeDone(deps, `Changed ${count} of project ${project}.`);
  else await writeDone(deps, `${count} would change. Nothing was changed.`);
}

/** One row a key; the secrets of new webhooks where there are any. */
async function showChanges(deps: Deps, { changes, secrets }: Configured): Promise<void> {
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
