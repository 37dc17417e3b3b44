/** A store in memory or on the PostgreSQL server under test, with one project and a manual clock. */
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import type {
  MemberInput,
  MembersQuery,
  MetricsQuery,
  PeopleQuery,
  Project,
  ResponseInput,
  ResponsesQuery,
  SendInput,
  TimeRange,
} from "../../../src/service/domain/inputs.ts";
import type { DueSurvey, EventsFilter, Store, Transaction } from "../../../src/service/domain/ports.ts";
import { configureAutopilot } from "../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { PLATFORMS } from "../../../src/contract/resources.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import type { Random } from "../../../src/runtime/random.ts";
import { IN_MEMORY } from "../../../src/service/store/sqlite/engine/engine.ts";
import { openPostgresStore } from "../../../src/service/store/postgres/open-postgres-store.ts";
import { databaseOf, onPostgres } from "../../helpers/postgres.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { claimDue } from "./claim-due.ts";

export const START = 1_750_000_000;
export const DAY = 86_400;
export const links = { permalink: (token: string): string => `https://surveys.example/r/${token}` };

export interface Fixture {
  readonly store: Store;
  readonly project: Project;
  readonly time: { now: number };
  write<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  read<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  send(given: Partial<SendInput>): ReturnType<typeof sendPerson>;
}

export async function openFixture(
  options: {
    readonly file?: string;
    readonly engine?: StoreEngine;
    readonly random?: Random;
    readonly onStatement?: () => void;
  } = {},
): Promise<Fixture> {
  const time = { now: START };
  const clock: Clock = { now: () => time.now * 1000, monotonic: () => time.now * 1000, sleep: () => Promise.resolve() };
  const store = await openStore({ ...options, clock });
  const project = await store.write(async (tx) => (await tx.projects.byName("default")) ?? addOpenProject(tx), {
    project: "all",
  });
  return {
    store,
    project,
    time,
    write: (work) => store.write(work, { project: "all" }),
    read: (work) => store.read(work),
    send: (given) => store.write((tx) => sendPerson(tx, project, sendInput(given)), { project: "all" }),
  };
}

async function addOpenProject(tx: Transaction): Promise<Project> {
  const project = await addProject(tx, "default");
  for (const platform of PLATFORMS)
    await configureAutopilot(tx, project, platform, { first: "now", days: "any", hours: "any" });
  return project;
}

export type StoreEngine = "sqlite" | "postgresql";

export type StoreOptions = Omit<SqliteStoreOptions, "file"> & {
  /** Defaults to a new store. With PostgreSQL this names a test database. */
  readonly file?: string;
  readonly engine?: StoreEngine;
};

/**
 * Uses PostgreSQL if that is under test, unless `engine` is given. Its sleeps are real then, because the server replies
 * in real time.
 */
export async function openStore({ file, engine, ...options }: StoreOptions): Promise<Store> {
  const database = await databaseOf(file ?? null, engine === undefined ? onPostgres : engine === "postgresql");
  if (database === null) return openSqliteStore({ file: file ?? IN_MEMORY, ...options });
  const clock = { ...systemClock, now: () => options.clock.now() };
  const store = await openPostgresStore({ ...options, url: database.url, clock, time: "clock" });
  return { ...store, close: () => store.close().then(database.giveBack) };
}

export async function claimAll(tx: Transaction): Promise<readonly DueSurvey[]> {
  const claim = { claimer: "one", leaseSeconds: 60, limit: 100 } as const;
  return [
    ...(await claimDue(tx, { ...claim, channel: "email" })),
    ...(await claimDue(tx, { ...claim, channel: "sms" })),
  ];
}

export function sendInput(given: Partial<SendInput>): SendInput {
  return {
    email: null,
    phoneNumber: null,
    channel: "email",
    name: null,
    delaySeconds: 0,
    properties: null,
    replaceProperties: false,
    send: true,
    lastSentAt: null,
    emailUpdate: null,
    phoneNumberUpdate: null,
    ...given,
  };
}

export function peopleQuery(given: Partial<PeopleQuery> = {}): PeopleQuery {
  return {
    since: null,
    until: null,
    email: null,
    phoneNumber: null,
    withProperties: false,
    perPage: 20,
    after: null,
    ...given,
  };
}

export function responseInput(given: Partial<ResponseInput> & Pick<ResponseInput, "personId">): ResponseInput {
  return { score: 9, comment: null, personProperties: {}, createdAt: null, ...given };
}

export function responsesQuery(given: Partial<ResponsesQuery> = {}): ResponsesQuery {
  return {
    since: null,
    until: null,
    updatedSince: null,
    updatedUntil: null,
    trend: null,
    personId: null,
    personEmail: null,
    order: "asc",
    expand: new Set(["notes"]),
    page: 1,
    perPage: 20,
    ...given,
  };
}

export function eventsQuery({
  page = 1,
  perPage: limit = 20,
  ...range
}: Partial<TimeRange> & { readonly page?: number; readonly perPage?: number } = {}): EventsFilter {
  return { since: null, until: null, ...range, offset: (page - 1) * limit, limit };
}

export function metricsQuery(given: Partial<MetricsQuery> = {}): MetricsQuery {
  return { since: null, until: null, trend: null, groups: new Set(["core"]), ...given };
}

export function membersQuery(given: Partial<MembersQuery> = {}): MembersQuery {
  return {
    platform: "email",
    personId: null,
    personEmail: null,
    personPhoneNumber: null,
    perPage: 20,
    after: null,
    ...given,
  };
}

export function memberInput(given: Partial<MemberInput>): MemberInput {
  return {
    platform: "email",
    personId: null,
    personEmail: null,
    personPhoneNumber: null,
    personName: null,
    properties: null,
    ...given,
  };
}
