import * as v from "valibot";
import {
  type AppliedConfiguration,
  applyConfiguration,
  readConfiguration,
  RefusedConfigurationError,
  type WantedConfiguration,
} from "../domain/projects/configuration.ts";
import { pruneEvents } from "../domain/webhooks/webhooks.ts";
import { defineOperation, Undone } from "./define/operation.ts";
import { createWebhookSecret } from "./webhooks.ts";

/** Changes made, or planned by a dry run; empty if any of them is refused. */
export interface ConfiguredInfo extends AppliedConfiguration {
  readonly isApplied: boolean;
  readonly refused: { readonly path: readonly string[]; readonly text: string } | null;
}

export const configurationOperations = {
  configuration: defineOperation({
    scope: "project",
    access: "read",
    input: {},
    run: (tx, project) => readConfiguration(tx, project),
  }),
  /**
   * Applies the settings, all or none. Changes nothing if it would remove something that `confirmed` doesn't name; null
   * confirms everything.
   */
  configure: defineOperation({
    scope: "project",
    access: ({ dry_run: dryRun }) => (dryRun ? "read" : "write"),
    writesAnyway: true,
    input: {
      wanted: v.custom<WantedConfiguration>((value) => typeof value === "object" && value !== null),
      confirmed: v.nullable(v.array(v.string())),
      dry_run: v.boolean(),
    },
    run: async (tx, project, { wanted, confirmed, dry_run: dryRun }, { random, ownAddresses }) => {
      const tools = { own: ownAddresses(), newSecret: () => createWebhookSecret(random) };
      const applied = await applyConfiguration(tx, project, wanted, tools).catch((error: unknown) => {
        if (!(error instanceof RefusedConfigurationError)) throw error;
        const refused = { path: error.path, text: error.message };
        throw new Undone<ConfiguredInfo>({ changes: [], removed: [], secrets: [], isApplied: false, refused });
      });
      const isConfirmed = confirmed === null || applied.removed.every((entry) => confirmed.includes(entry));
      const done: ConfiguredInfo = { ...applied, isApplied: true, refused: null };
      if (dryRun || !isConfirmed) throw new Undone<ConfiguredInfo>({ ...done, secrets: [], isApplied: false });
      return done;
    },
    after: async ({ store }, done) => {
      await pruneEvents(store);
      await store.settle();
      return done;
    },
  }),
};
