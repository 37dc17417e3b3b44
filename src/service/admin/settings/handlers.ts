/** The commands about a project's settings, on an open store. */
import type { Random } from "../../../runtime/random.ts";
import { DEFAULT_ZONE } from "../../../runtime/zone.ts";
import type { DueSurvey, ProjectRow, Store, Transaction } from "../../domain/ports.ts";
import {
  type AppliedConfiguration,
  applyConfiguration,
  readConfiguration,
  RefusedConfigurationError,
} from "../../domain/projects/configuration.ts";
import { changeReminder } from "../../domain/delivery/reminders.ts";
import { setThrottle } from "../../domain/projects/projects.ts";
import {
  changeSettings,
  readSettings,
  toConfiguredSettings,
  toProjectSettings,
} from "../../domain/projects/settings.ts";
import { configureAutopilot, showAutopilot } from "../../domain/surveys/autopilot.ts";
import { previewSurvey } from "../../domain/surveys/preview.ts";
import { AdminError, type Handlers } from "../commands.ts";
import type { PreviewInfo } from "../digest/commands.ts";
import { readInProject, requireProject, writeInProject } from "../in-project.ts";
import { createWebhookSecret, dropEvents } from "../webhook/handlers.ts";

export interface SettingsAdminOptions {
  readonly store: Store;
  readonly random: Random;
  readonly ownAddresses: () => readonly string[];
  readonly renderPreview: (survey: DueSurvey) => Promise<PreviewInfo>;
}

type SettingsKind = "throttle" | "reminder" | "autopilot" | "settings" | "survey.preview";

export function createSettingsHandlers(options: SettingsAdminOptions): Pick<Handlers, SettingsKind> {
  const { store, renderPreview } = options;
  return {
    throttle: ({ project, seconds }) =>
      seconds === undefined
        ? readInProject(store, project, async (_, { throttleSeconds }) => ({ throttle: throttleSeconds }))
        : writeInProject(store, project, async (tx, found) => {
            await setThrottle(tx, found, seconds);
            return { throttle: seconds };
          }),
    reminder: ({ project, after, channel }) =>
      (after === undefined && channel === undefined ? readInProject : writeInProject)(
        store,
        project,
        async (tx, found) => {
          const settings = await changeReminder(tx, found, { after, channel });
          return { after_seconds: settings.after, channel: settings.channel };
        },
      ),
    autopilot: async ({ project, platform, change }) => {
      const isLook = Object.values(change).every((value) => value === undefined);
      const shown = await (isLook ? readInProject : writeInProject)(store, project, async (tx, found) => {
        const settings = isLook
          ? await tx.autopilot.settings(found.id, platform)
          : await configureAutopilot(tx, found, platform, change);
        const { timeZone } = await readSettings(tx, found);
        return { ...showAutopilot(platform, settings), tz: timeZone ?? DEFAULT_ZONE };
      });
      if (!isLook) await store.settle();
      return shown;
    },
    settings: ({ project, change }) =>
      (Object.keys(change).length === 0 ? readInProject : writeInProject)(store, project, async (tx, found) =>
        toConfiguredSettings(await changeSettings(tx, found, toProjectSettings(change))),
      ),
    "survey.preview": async ({ project, email, locale }) => {
      const survey = await readInProject(store, project, (tx, { id, name }) =>
        previewSurvey(tx, { id, name }, { email, locale }),
      );
      if (survey === null) throw new AdminError(`no person found with email ${email}`);
      return renderPreview(survey);
    },
  };
}

type ConfigurationKind = "configuration" | "configure";

/** Ends a transaction that was only tried, with what it would have brought. */
class TriedError extends Error {
  override readonly name = "TriedError";
  readonly applied: AppliedConfiguration;

  constructor(applied: AppliedConfiguration) {
    super("the settings were only tried");
    this.applied = applied;
  }
}

export function createConfigurationHandlers(options: SettingsAdminOptions): Pick<Handlers, ConfigurationKind> {
  const { store, random, ownAddresses } = options;
  return {
    configuration: ({ project }) => store.read(async (tx) => readConfiguration(tx, await requireProject(tx, project))),
    configure: async ({ project, wanted, dryRun, confirmed }) => {
      const tools = { own: ownAddresses(), newSecret: () => createWebhookSecret(random) };
      const apply = async (tx: Transaction, found: ProjectRow): Promise<AppliedConfiguration> => {
        const applied = await applyConfiguration(tx, found, wanted, tools);
        const isConfirmed = confirmed === null || applied.removed.every((entry) => confirmed.includes(entry));
        if (dryRun || !isConfirmed) throw new TriedError(applied);
        return applied;
      };
      try {
        const applied = await writeInProject(store, project, apply);
        await dropEvents(store);
        await store.settle();
        return { ...applied, isApplied: true, refused: null };
      } catch (error) {
        if (error instanceof TriedError) return { ...error.applied, secrets: [], isApplied: false, refused: null };
        if (!(error instanceof RefusedConfigurationError)) throw error;
        const refused = { path: error.path, text: error.message };
        return { changes: [], removed: [], secrets: [], isApplied: false, refused };
      }
    },
  };
}
