import * as v from "valibot";
import { isJsonObject, type Json } from "../../contract/json.ts";
import { formatDuration } from "../../contract/text/duration.ts";
import { type AppliedConfiguration, applyConfiguration, type WantedConfiguration } from "../domain/configuration.ts";
import { pruneEvents } from "../domain/webhooks/webhooks.ts";
import { namesAmong, typed } from "./define/fields.ts";
import { CONFIRM, defineOperation, readInput, requireConfirmed, Undone } from "./define/operation.ts";
import { SETTINGS_SHAPE } from "./define/settings-shape.ts";
import { createWebhookSecret } from "./webhooks.ts";

const SECTIONS = Object.keys(SETTINGS_SHAPE.entries) as readonly (keyof typeof SETTINGS_SHAPE.entries)[];

export const configurationOperations = {
  /** Applies all settings of a file or none. */
  apply: defineOperation({
    access: ({ dry_run: dryRun }) => (dryRun ? "read" : "write"),
    writesAnyway: true,
    input: {
      /** Settings as printed by `settings` with `output: "yaml"`. */
      file: typed<WantedConfiguration>((given) => (isJsonObject(given) ? given : null), "an object of settings", {
        type: "object",
      }),
      only: v.optional(namesAmong(SECTIONS), []),
      dry_run: v.optional(v.boolean(), false),
      ...CONFIRM,
    },
    prepare: async (_tools, _project, { file }) => void readInput(SETTINGS_SHAPE, file, "file"),
    run: async (tx, project, { file, only, dry_run: dryRun, ...given }, { random, ownAddresses }) => {
      const sections = Object.entries(file).filter(([name]) => only.length === 0 || only.some((each) => each === name));
      const tools = { own: ownAddresses(), newSecret: () => createWebhookSecret(random) };
      const applied = await applyConfiguration(tx, project, Object.fromEntries(sections), tools);
      if (dryRun) throw new Undone(toRows({ ...applied, secrets: [] }));
      const { removed } = applied;
      const question = `Remove ${removed.map(describeRemoved).join(", ")} from project ${project.name}?`;
      await requireConfirmed(given, async () => (removed.length === 0 ? null : { question, removed: [...removed] }));
      return toRows(applied);
    },
    after: async ({ store }, rows) => {
      await pruneEvents(store);
      await store.settle();
      return rows;
    },
  }),
};

/** Includes the secrets of new webhooks, which are never shown again. */
function toRows({ changes, secrets }: AppliedConfiguration) {
  const rows = changes.map(({ key, from, to }) => {
    const change = from === null ? "add" : to === null ? "remove" : "change";
    return { change, key, from: toTyped(key, from), to: toTyped(key, to) };
  });
  const added = secrets.map(({ url, secret }) => {
    return { change: "add", key: `webhooks[${JSON.stringify(url)}].secret`, from: null, to: secret };
  });
  return [...rows, ...added];
}

function toTyped(key: string, value: Json): Json {
  return typeof value === "number" && /^throttle$|\.frequency$|\.after$/.test(key) ? formatDuration(value) : value;
}

function describeRemoved(entry: string): string {
  if (entry.startsWith("questions[")) return `${entry} (it is retired)`;
  return entry.startsWith("webhooks[") ? `${entry} with its secret` : entry;
}
