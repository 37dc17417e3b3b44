import * as v from "valibot";
import { capital } from "../../contract/text/capital.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import { ageForm, readAge } from "../../contract/text/duration.ts";
import { systemErrorText } from "../../runtime/files/system-words.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import { InvalidError, NotFoundError } from "../domain/errors.ts";
import type { Mention, ProjectRow, RetentionCounts, Store } from "../domain/ports.ts";
import {
  type ErasedAddress,
  erasePerson,
  type Erasure,
  findMentions,
  identifiersFor,
  isErased,
  isKnown,
  previewErasure,
} from "../domain/privacy/erase.ts";
import { findReferenced } from "../domain/people/person-identity.ts";
import {
  changeRetention,
  countExpired,
  EVENTS_KEPT,
  followRetention,
  readRetention,
  type RetentionPolicy,
} from "../domain/privacy/retention.ts";
import { LOG_AGE_FORM, LOG_KEPT_MIN } from "../domain/operation-log/operation-log.ts";
import { listExpired, PLANNED } from "../domain/privacy/retention-words.ts";
import { requireProject } from "../domain/projects/projects.ts";
import { duration, durationOrOff, oneAddress } from "./define/fields.ts";
import { type Access, defineOperation, withoutNulls, type OperationTools, orNull } from "./define/operation.ts";

const keptFor = (max?: number) =>
  orNull(
    durationOrOff(
      readAge,
      (seconds) => seconds >= DAY_SECONDS && seconds <= (max ?? Infinity),
      `an age of ${ageForm(max)}`,
    ),
  );

const RETENTION_FIELDS = {
  responses: keptFor(),
  anonymize: v.optional(v.boolean(), false),
  delete: v.optional(v.boolean(), false),
  requests: keptFor(),
  webhooks: keptFor(EVENTS_KEPT),
  /** Can only be set on the machine that has the data. */
  log: orNull(duration(readAge, (seconds) => seconds >= LOG_KEPT_MIN, LOG_AGE_FORM)),
  dry_run: v.optional(v.boolean(), false),
};

export const privacyOperations = {
  /** Without a project, erases from all projects. */
  erase: defineOperation({
    scope: "any",
    access: ({ dry_run: dryRun }): Access => (dryRun ? "read" : "write"),
    input: {
      email: orNull(v.string()),
      phone_number: orNull(v.string()),
      dry_run: v.optional(v.boolean(), false),
      /** Also removes the address from other people's rows. */
      properties: v.optional(v.boolean(), false),
      forget_unsubscribe: v.optional(v.boolean(), false),
    },
    prepare: async ({ store }, project, { forget_unsubscribe: forgetUnsubscribe, ...given }) => {
      const address = oneAddress(given);
      const by =
        given.email === null
          ? { by: "phone_number" as const, phoneNumber: address }
          : { by: "email" as const, email: address };
      return findTargets(store, project, by, forgetUnsubscribe);
    },
    confirm: async (tx, project, { dry_run: dryRun }, { address, targets }) => {
      if (dryRun) return null;
      const found = [];
      for (const target of targets) found.push(await previewErasure(tx, target.project, address));
      const { people, responses, surveys } = sumUp(found);
      const who = address.by === "email" ? address.email : address.phoneNumber;
      const counts = [
        countOf(people, "person", "people"),
        countOf(responses, "response", "responses"),
        countOf(surveys, "survey", "surveys"),
      ].join(", ");
      const where = project === null ? "all projects" : `project ${project.name}`;
      return { question: `Erase ${who} from ${where}: ${counts}?`, people, responses, surveys };
    },
    run: async (tx, _, input, _tools, { address, targets }) => {
      const { properties, forget_unsubscribe: forgetUnsubscribe } = input;
      const erasures: Erasure[] = [];
      for (const { project, mentions } of targets)
        erasures.push(
          input.dry_run
            ? await previewErasure(tx, project, address)
            : await erasePerson(tx, project, address, { forgetUnsubscribe, mentions: properties ? mentions : [] }),
        );
      const mentions = targets.reduce((sum, target) => sum + target.mentions.length, 0);
      return { targets, at: tx.now, found: { projects: targets.length, mentions, ...sumUp(erasures) } };
    },
    noted: ({ found }) => ({ result: found }),
    /** The receipt has counts and a time, but nothing that identifies anyone. */
    after: async (tools, { targets, at, found }, { dry_run: dryRun }) => {
      if (!dryRun) return { ...found, erased_at: at, ...(await finish(tools, targets)) };
      const later = { erased_at: null, messages: null, suppressions_kept: null, links_kept: null, verified: null };
      return { ...found, ...later, problem: null };
    },
  }),
  retention: defineOperation({
    access: (input): Access => (isLook(input) ? "read" : "write"),
    input: RETENTION_FIELDS,
    prepare: async ({ actor }, _, { log }) => {
      if (log !== null && actor.key !== null) throw new InvalidError({ log: ["can only be set where the data is"] });
    },
    /** Also counts what ages set earlier would remove, even those in a restored backup. */
    confirm: async (tx, project, input) => {
      if (isLook(input)) return null;
      const change = toPolicy(input);
      const policy = { ...(await readRetention(tx, project)), ...change };
      const expired = await countExpired(tx, project, policy);
      const setsAge = Object.values(change).some((value) => typeof value === "number");
      if (!setsAge && Object.values(expired).every((count) => count === 0)) return null;
      return { question: `${capital(listExpired(toRetentionInfo(policy, expired), PLANNED, tx.now))}?`, ...expired };
    },
    run: async (tx, project, input) => {
      const change = toPolicy(input);
      if (!isLook(input)) return { project, policy: await changeRetention(tx, project, change), expired: null };
      const policy = { ...(await readRetention(tx, project)), ...change };
      return { project, policy, expired: await countExpired(tx, project, policy) };
    },
    noted: ({ policy }) => ({ result: policy }),
    after: async ({ store, sweepMessages }, { project, policy, expired }) => {
      if (expired !== null) return toRetentionInfo(policy, expired);
      const done = await followRetention(store, project);
      if (done.requests > 0) await sweepMessages();
      return toRetentionInfo(policy, done);
    },
  }),
};

type GivenRetention = v.InferOutput<v.StrictObjectSchema<typeof RETENTION_FIELDS, undefined>>;

function isLook({ responses, requests, webhooks, log, dry_run: dryRun }: GivenRetention): boolean {
  return dryRun || [responses, requests, webhooks, log].every((age) => age === null);
}

/** Null keeps everything. Throws InvalidError. */
function toPolicy({ anonymize, delete: deletes, responses, requests, webhooks, log }: GivenRetention) {
  const isAge = typeof responses === "number";
  if (anonymize && deletes) throw new InvalidError({ anonymize: ["cannot be used with delete"] });
  if (isAge && !anonymize && !deletes) throw new InvalidError({ responses: ["needs anonymize or delete"] });
  if (!isAge && (anonymize || deletes))
    throw new InvalidError({ responses: ["must be an age with anonymize or delete"] });
  const mode = anonymize ? ("anonymize" as const) : deletes ? ("delete" as const) : null;
  const given = Object.entries(withoutNulls({ responses, mode, requests, webhooks, log }));
  return Object.fromEntries(
    given.map(([name, value]) => [name, value === "off" ? null : value]),
  ) as Partial<RetentionPolicy>;
}

interface Target {
  readonly project: ProjectRow;
  readonly personId: number | null;
  readonly mentions: readonly Mention[];
}

/** Throws NotFoundError if there is nothing to erase. */
async function findTargets(store: Store, name: string | null, address: ErasedAddress, forgetUnsubscribe: boolean) {
  const targets: Target[] = [];
  let isAnything = false;
  const projects = await store.read(async (tx) =>
    name === null ? tx.projects.list() : [await requireProject(tx, name)],
  );
  for (const project of projects) {
    const person = await store.read((tx) => findReferenced(tx, project, address));
    const identifiers = identifiersFor(address, person);
    const mentions = await findMentions(store, project, identifiers);
    isAnything ||=
      mentions.length > 0 || (await store.read((tx) => isKnown(tx, project, address, { forgetUnsubscribe })));
    targets.push({ project, personId: identifiers.id, mentions });
  }
  if (isAnything) return { address, targets };
  const whose = address.by === "email" ? `email ${address.email}` : `phone number ${address.phoneNumber}`;
  throw new NotFoundError(`no person found with ${whose} in ${name === null ? "any project" : `project ${name}`}`);
}

/** The erasure is already committed, so failures here are only noted in the receipt. */
async function finish({ store, onErased, sweepMessages }: OperationTools, targets: readonly Target[]) {
  const problems: string[] = [];
  const orNote = <Result>(what: string, work: Promise<Result>): Promise<Result | null> =>
    work.catch((error: unknown) => {
      problems.push(`${what}: ${systemErrorText(error)}`);
      return null;
    });
  await orNote("the erasure log was not written", onErased());
  /** Null if a server will delete them. */
  const messages = await orNote("messages may be left in the outbox", store.settle().then(sweepMessages));
  // SQLite can't empty its log while a long backup reads the file; hourly maintenance does it later.
  const isCleaned = await store.clean().catch(() => false);
  if (isCleaned !== false) await store.write((tx) => tx.erasures.setCleaning(false), { project: "none" });
  const areGone = await store.read(async (tx) => {
    for (const { project, personId } of targets)
      if (personId !== null && !(await isErased(tx, project, personId))) return false;
    return true;
  });
  const verified = problems.length === 0 && areGone ? isCleaned : false;
  return { messages, verified, problem: problems.length === 0 ? null : problems.join("; ") };
}

function sumUp(erasures: readonly Erasure[]) {
  const sum = (name: keyof Erasure): number => erasures.reduce((total, erasure) => total + erasure[name], 0);
  return {
    people: sum("people"),
    responses: sum("responses"),
    surveys: sum("surveys"),
    attempts: sum("attempts"),
    memberships: sum("memberships"),
    webhook_events: sum("events"),
    suppressions_kept: sum("suppressions"),
    links_kept: sum("links"),
  };
}

function toRetentionInfo({ responses, mode, requests, webhooks, log }: RetentionPolicy, expired: RetentionCounts) {
  return {
    responses,
    mode: responses === null ? null : mode,
    requests,
    webhooks,
    log,
    expired_responses: expired.responses,
    expired_requests: expired.requests,
    expired_webhook_events: expired.events,
    expired_log_lines: expired.log,
  };
}
