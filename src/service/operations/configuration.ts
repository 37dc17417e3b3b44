/** `service apply`. */
import * as v from "valibot";
import type { Json } from "../../contract/json.ts";
import { formatDuration } from "../../contract/text/duration.ts";
import { InvalidError, UnconfirmedError } from "../domain/errors.ts";
import {
  type AppliedConfiguration,
  applyConfiguration,
  type WantedConfiguration,
} from "../domain/projects/configuration.ts";
import { pruneEvents } from "../domain/webhooks/webhooks.ts";
import { names } from "./define/fields.ts";
import { defineOperation, Undone } from "./define/operation.ts";
import { createWebhookSecret } from "./webhooks.ts";

export const configurationOperations = {
  /** Applies all settings of a file or none, and returns a row for each change. */
  apply: defineOperation({
    scope: "project",
    access: ({ dry_run: dryRun }) => (dryRun ? "read" : "write"),
    writesAnyway: true,
    input: {
      /** As `settings` shows them with `output: "yaml"`. */
      file: v.custom<WantedConfiguration>(
        (value) => typeof value === "object" && value !== null && !Array.isArray(value),
        "must be an object of settings",
      ),
      /** Sections of it. */
      only: v.optional(names, []),
      dry_run: v.optional(v.boolean(), false),
      confirm: v.optional(v.boolean(), false),
    },
    run: async (tx, project, { file, only, dry_run: dryRun, confirm }, { random, ownAddresses }) => {
      const sections = Object.entries(file).filter(([name]) => only.length === 0 || only.includes(name));
      const tools = { own: ownAddresses(), newSecret: () => createWebhookSecret(random) };
      const applied = await applyConfiguration(tx, project, Object.fromEntries(sections), tools).catch(explainShape);
      if (dryRun) throw new Undone(toRows({ ...applied, secrets: [] }));
      const { removed } = applied;
      const question = `Remove ${removed.map(describeRemoved).join(", ")} from project ${project.name}?`;
      if (removed.length > 0 && !confirm) throw new UnconfirmedError({ question, removed: [...removed] });
      return toRows(applied);
    },
    after: async ({ store }, rows) => {
      await pruneEvents(store);
      await store.settle();
      return rows;
    },
  }),
};

/** Only the command line checks the shape of a file before. */
function explainShape(error: unknown): never {
  throw error instanceof TypeError ? new InvalidError({ file: ["has settings of another shape"] }) : error;
}

/** A row for each key; the secrets of new webhooks are shown only here. */
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

/** Durations as they are typed. */
function toTyped(key: string, value: Json): Json {
  return typeof value === "number" && /^throttle$|\.frequency$|\.after$/.test(key) ? formatDuration(value) : value;
}

function describeRemoved(entry: string): string {
  if (entry.startsWith("questions[")) return `${entry} (it is retired)`;
  return entry.startsWith("webhooks[") ? `${entry} with its secret` : entry;
}
