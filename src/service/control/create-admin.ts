/** The commands on an open store. */
import type { Clock } from "../../runtime/clock.ts";
import { wordsOfRefusal } from "../../runtime/files/system-words.ts";
import type { Random } from "../../runtime/random.ts";
import { configureAutopilot, getAutopilot } from "../domain/surveys/autopilot.ts";
import {
  type AppliedConfiguration,
  applyConfiguration,
  readConfiguration,
  RefusedConfigurationError,
} from "../domain/projects/configuration.ts";
import { addDigest, digestZone, removeDigest } from "../domain/delivery/digests.ts";
import { WEEKDAYS } from "../domain/delivery/digest-rows.ts";
import { DomainError } from "../domain/errors.ts";
import { importHistory } from "../domain/history/import-responses.ts";
import type { DigestRow, DueSurvey, KeyRow, ProjectRow, Store, Transaction, Trend } from "../domain/ports.ts";
import { previewSurvey } from "../domain/surveys/preview.ts";
import {
  addKey,
  addProject,
  listKeys,
  listProjects,
  revokeKey,
  rotateKey,
  setThrottle,
} from "../domain/projects/projects.ts";
import { changeSettings, toConfiguredSettings, toProjectSettings } from "../domain/projects/settings.ts";
import { addTrend, listTrends, removeTrend } from "../domain/answers/trends.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { ReportOutcome } from "../domain/delivery/rows.ts";
import { createBounceHandlers } from "./bounce-admin.ts";
import type { DigestInfo } from "./digest-commands.ts";
import { createDeliveryHandlers, requireProject, writeInProject } from "./delivery-admin.ts";
import { createPrivacyHandlers, type PrivacyAdminOptions } from "./privacy/admin.ts";
import { createPageHandlers } from "./page-admin.ts";
import { createWebhookHandlers, createWebhookSecret, dropEvents, type WebhookAdminOptions } from "./webhook-admin.ts";
import {
  AdminError,
  type Admin,
  type AdminKind,
  type AdminResults,
  type CommandOf,
  type KeyInfo,
  type PreviewInfo,
  type ProjectInfo,
  type TrendInfo,
} from "./commands.ts";

export interface AdminOptions extends WebhookAdminOptions, PrivacyAdminOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Keys that were looked up no longer count. */
  readonly onRevoke: () => void;
  /** Surveys may be due now. */
  readonly onSchedule: () => void;
  /** What links begin with, without a slash at the end. */
  readonly appUrl: () => string;
  readonly renderPreview: (survey: DueSurvey) => Promise<PreviewInfo>;
  /** What carries messages out. */
  readonly senders: readonly MessageSender[];
  readonly onReport: (source: string, outcome: ReportOutcome) => void;
}

type Handlers = { readonly [Kind in AdminKind]: (command: CommandOf<Kind>) => Promise<AdminResults[Kind]> };

/** Throws AdminError for what the rules refuse, in their words. */
export function createAdmin(options: AdminOptions): Admin {
  const handlers = createHandlers(options);
  return async <Kind extends AdminKind>(command: CommandOf<Kind>): Promise<AdminResults[Kind]> => {
    try {
      return await handlers[command.kind](command);
    } catch (error) {
      throw error instanceof DomainError ? new AdminError(error.message, { cause: error }) : error;
    }
  };
}

/** 32 URL-safe characters: short enough for every client library. */
export function createKey(random: Random): string {
  return random.token(24);
}

function createHandlers(options: AdminOptions): Handlers {
  const { store, random, onRevoke, onSchedule, renderPreview } = options;
  const inProject = <Result>(
    name: string,
    work: (tx: Transaction, project: ProjectRow) => Promise<Result>,
  ): Promise<Result> => writeInProject(store, name, work);
  const readProject = <Result>(
    name: string,
    work: (tx: Transaction, project: ProjectRow) => Promise<Result>,
  ): Promise<Result> => store.read(async (tx) => work(tx, await requireProject(tx, name)));
  return {
    ...createDeliveryHandlers(options),
    ...createPageHandlers(options),
    ...createBounceHandlers(options),
    ...createWebhookHandlers(options),
    ...createPrivacyHandlers(options),
    "project.add": ({ name }) =>
      store.write(async (tx) => {
        const project = await addProject(tx, name);
        const key = createKey(random);
        await addKey(tx, project, key);
        return { id: String(project.id), name: project.name, key };
      }),
    "project.list": () => store.read(readProjects),
    "key.add": ({ project, name = null }) =>
      inProject(project, async (tx, found) => {
        const key = createKey(random);
        return { id: String((await addKey(tx, found, key, name)).id), name, key };
      }),
    "key.list": ({ project }) => readProject(project, async (tx, found) => (await listKeys(tx, found)).map(toKeyInfo)),
    "key.revoke": async ({ project, id }) => {
      const revoked = await inProject(project, (tx, found) => revokeKey(tx, found, id));
      onRevoke();
      return { id: String(revoked.id) };
    },
    "key.rotate": async ({ project, id, endsAfter = null }) => {
      const secretKey = createKey(random);
      const rotated = await inProject(project, async (tx, found) => {
        const endsAt = endsAfter === null ? null : tx.now + endsAfter;
        const { key, previous } = await rotateKey(tx, found, id, { secretKey, endsAt });
        return {
          id: String(key.id),
          name: key.name,
          previous: previous.map((one) => String(one.id)),
          previous_until: endsAt,
        };
      });
      onRevoke();
      return { ...rotated, key: secretKey };
    },
    throttle: ({ project, seconds }) =>
      seconds === undefined
        ? readProject(project, async (_, { throttleSeconds }) => ({ throttle: throttleSeconds }))
        : inProject(project, async (tx, found) => {
            await setThrottle(tx, found, seconds);
            return { throttle: seconds };
          }),
    autopilot: async ({ project, platform, active, frequencySeconds }) => {
      const change = {
        ...(active === undefined ? {} : { active }),
        ...(frequencySeconds === undefined ? {} : { frequencySeconds }),
      };
      if (Object.keys(change).length === 0)
        return readProject(project, (tx, found) => getAutopilot(tx, found, platform));
      const configuration = await inProject(project, (tx, found) => configureAutopilot(tx, found, platform, change));
      await store.settle();
      onSchedule();
      return configuration;
    },
    settings: ({ project, change }) =>
      inProject(project, async (tx, found) =>
        toConfiguredSettings(await changeSettings(tx, found, toProjectSettings(change))),
      ),
    ...createConfigurationHandlers(options),
    "survey.preview": async ({ project, email, locale }) => {
      const survey = await readProject(project, (tx, { id, name }) =>
        previewSurvey(tx, { id, name }, { email, locale }),
      );
      if (survey === null) throw new AdminError(`no person found with email ${email}`);
      return renderPreview(survey);
    },
    "trend.add": async ({ project, name, where }) => {
      const trend = await inProject(project, (tx, found) => addTrend(tx, found, name, where));
      await store.settle();
      return toTrendInfo(trend);
    },
    "trend.list": ({ project }) =>
      readProject(project, async (tx, found) => (await listTrends(tx, found)).map(toTrendInfo)),
    "trend.remove": async ({ project, id }) => {
      const wasThere = await inProject(project, (tx, found) => removeTrend(tx, found, id));
      return requireThere(wasThere, `project ${project} has no trend ${id}`, { id });
    },
    "history.add": ({ project, batch, onConflict, webhooks }) =>
      inProject(project, (tx, found) => importHistory(tx, found, batch, { policy: onConflict, webhooks })),
    "digest.add": async ({ project, email, ...schedule }) => {
      const added = await inProject(project, async (tx, found) =>
        toDigestInfo(tx, await addDigest(tx, found, email, schedule)),
      );
      onSchedule();
      return added;
    },
    "digest.list": ({ project }) =>
      store.read(async (tx) => {
        const infos: DigestInfo[] = [];
        const { id } = await requireProject(tx, project);
        for (const digest of await tx.digests.list(id)) infos.push(await toDigestInfo(tx, digest));
        return infos;
      }),
    "digest.remove": ({ project, digest }) =>
      inProject(project, async (tx, found) => {
        const { id, email } = await removeDigest(tx, found, digest);
        return { id: String(id), email };
      }),
    backup: async ({ file }) => {
      try {
        return await store.backup(file);
      } catch (error) {
        return { problem: wordsOfRefusal(error) };
      }
    },
    vacuum: async () => {
      const { bytesBefore, bytesAfter } = await store.vacuum();
      return { bytes_before: bytesBefore, bytes: bytesAfter };
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

function createConfigurationHandlers(options: AdminOptions): Pick<Handlers, ConfigurationKind> {
  const { store, random, ownAddresses, onSchedule, onWebhooks } = options;
  return {
    configuration: ({ project }) => store.read(async (tx) => readConfiguration(tx, await requireProject(tx, project))),
    configure: async ({ project, wanted, dryRun }) => {
      const tools = { own: ownAddresses(), newSecret: () => createWebhookSecret(random) };
      const apply = async (tx: Transaction, found: ProjectRow): Promise<AppliedConfiguration> => {
        const applied = await applyConfiguration(tx, found, wanted, tools);
        if (dryRun) throw new TriedError(applied);
        return applied;
      };
      try {
        const applied = await writeInProject(store, project, apply);
        await dropEvents(store);
        await store.settle();
        onSchedule();
        onWebhooks();
        return { ...applied, refused: null };
      } catch (error) {
        if (error instanceof TriedError) return { changes: error.applied.changes, secrets: [], refused: null };
        if (!(error instanceof RefusedConfigurationError)) throw error;
        return { changes: [], secrets: [], refused: { path: error.path, text: error.message } };
      }
    },
  };
}

async function toDigestInfo(tx: Transaction, digest: DigestRow): Promise<DigestInfo> {
  const { id, email, weekday, minute, unsubscribedAt, state, dueAt, sentAt, reason, createdAt } = digest;
  const [hour, rest] = [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0"));
  return {
    id: String(id),
    email,
    every: WEEKDAYS[weekday] ?? "",
    at: `${hour}:${rest}`,
    tz: await digestZone(tx, digest),
    state: unsubscribedAt === null ? state : "unsubscribed",
    next_at: unsubscribedAt === null ? dueAt : null,
    last_sent_at: sentAt,
    reason,
    created_at: createdAt,
  };
}

function requireThere<Result>(wasThere: boolean, message: string, result: Result): Result {
  if (!wasThere) throw new AdminError(message);
  return result;
}

async function readProjects(tx: Transaction): Promise<ProjectInfo[]> {
  const infos: ProjectInfo[] = [];
  for (const { id, name, createdAt, throttleSeconds } of await listProjects(tx)) {
    const { people, responses } = await tx.projects.counts(id);
    infos.push({ id: String(id), name, created_at: createdAt, throttle: throttleSeconds, people, responses });
  }
  return infos;
}

function toKeyInfo({ id, name, lastFour, createdAt, expiresAt }: KeyRow): KeyInfo {
  return { id: String(id), name, last_four: lastFour, created_at: createdAt, expires_at: expiresAt };
}

function toTrendInfo({ id, name, where, createdAt }: Trend): TrendInfo {
  return { id: String(id), name, where, created_at: createdAt };
}
