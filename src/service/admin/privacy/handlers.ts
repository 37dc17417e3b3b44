/** `service erase` and `service retention`, on an open store. */
import { emailKey } from "../../../contract/text/email.ts";
import { wordsOfRefusal } from "../../../runtime/files/system-words.ts";
import {
  type ErasedAddress,
  erasePerson,
  type Erasure,
  findByAddress,
  findMentions,
  identifiersFor,
  isKnown,
  previewErasure,
  textsOf,
  withoutRows,
} from "../../domain/privacy/erase.ts";
import {
  changeRetention,
  countExpired,
  followRetention,
  readRetention,
  type RetentionPolicy,
} from "../../domain/privacy/retention.ts";
import type { Mention, RetentionCounts, Store, Transaction } from "../../domain/ports.ts";
import type { ProjectRow } from "../../domain/rows.ts";
import { AdminError, type CommandOf, type Handlers } from "../commands.ts";
import { requireProject } from "../in-project.ts";
import type { ErasureInfo, PrivacyCommand, RetentionInfo } from "./commands.ts";

export interface PrivacyAdminOptions {
  readonly store: Store;
  /** Removes messages of people who are gone, and says how many; null when that is left to the next server. */
  readonly sweepMessages: () => Promise<number | null>;
  /** Updates the erasure log; rejects if it can't be written. */
  readonly onErased: () => Promise<void>;
}

export function createPrivacyHandlers(options: PrivacyAdminOptions): Pick<Handlers, PrivacyCommand["kind"]> {
  const { store } = options;
  return {
    erase: (command) => erase(options, command),
    retention: async ({ project: name, change, dryRun }) => {
      const project = await store.read((tx) => requireProject(tx, name));
      if (dryRun)
        return store.read(async (tx) => {
          const policy = { ...(await readRetention(tx, project)), ...change };
          return toRetentionInfo(policy, await countExpired(tx, project, policy));
        });
      const policy = await store.write((tx) => changeRetention(tx, project, change), { project: project.id });
      const expired = await followRetention(store, project);
      if (expired.requests > 0) await options.sweepMessages();
      return toRetentionInfo(policy, expired);
    },
  };
}

interface Target {
  readonly project: ProjectRow;
  readonly mentions: readonly Mention[];
}

/** Longer comments are the person's own; a short one may be anybody's. */
const SAMPLE_MIN = 24;
const SAMPLES_MAX = 16;

async function erase(options: PrivacyAdminOptions, command: CommandOf<"erase">): Promise<ErasureInfo> {
  const { store } = options;
  const { dryRun, properties, forgetUnsubscribe } = command;
  const address: ErasedAddress =
    command.email === null
      ? { by: "phone_number", phoneNumber: command.phoneNumber ?? "" }
      : { by: "email", email: command.email };
  const targets: Target[] = [];
  const texts = new Set<string>();
  const samples = new Set<string>();
  for (const project of await store.read((tx) => chosenProjects(tx, command.project))) {
    const person = await store.read((tx) => findByAddress(tx, project, address));
    const identifiers = identifiersFor(address, person);
    for (const text of textsOf(identifiers)) texts.add(text).add(emailKey(text));
    if (person !== null)
      for (const text of await store.read((tx) => tx.erasures.samples(project.id, person.id, SAMPLES_MAX)))
        if (text.length >= SAMPLE_MIN) samples.add(text);
    targets.push({ project, mentions: await findMentions(store, project, identifiers) });
  }
  const mentions = targets.reduce((sum, target) => sum + target.mentions.length, 0);
  const known = await store.read((tx) => forEach(targets, ({ project }) => isKnown(tx, project, address, command)));
  if (mentions === 0 && !known.includes(true)) throw nobody(command);
  const found = { projects: targets.length, mentions };
  if (dryRun) {
    const erasures = await store.read((tx) => forEach(targets, ({ project }) => previewErasure(tx, project, address)));
    const later = { erased_at: null, messages: null, suppressions_kept: null, links_kept: null, verified: null };
    return { ...found, ...sumUp(erasures), ...later, problem: null };
  }
  const [first, ...others] = targets;
  const only = first === undefined || others.length > 0 ? {} : { project: first.project.id };
  const { erasures, at } = await store.write(
    async (tx) => ({
      at: tx.now,
      erasures: await forEach(targets, (target) =>
        erasePerson(tx, target.project, address, {
          forgetUnsubscribe,
          mentions: properties ? target.mentions : [],
        }),
      ),
    }),
    only,
  );
  const rest = await finish(options, [...texts], [...samples]);
  return { ...found, ...sumUp(erasures), erased_at: at, ...rest };
}

/** What follows the commit. The rows are gone by then, so the receipt is due whatever fails here. */
async function finish(
  { store, onErased, sweepMessages }: PrivacyAdminOptions,
  texts: readonly string[],
  samples: readonly string[],
): Promise<Pick<ErasureInfo, "messages" | "verified" | "problem">> {
  const problems: string[] = [];
  const orNote = <Result>(what: string, work: Promise<Result>): Promise<Result | null> =>
    work.catch((error: unknown) => {
      problems.push(`${what}: ${wordsOfRefusal(error)}`);
      return null;
    });
  await orNote("the erasure log was not written", onErased());
  const messages = await orNote("messages may be left in the outbox", store.settle().then(sweepMessages));
  // While a long backup reads the file it can't be cleaned; the upkeep does it later.
  let isCleaned = true;
  const verified = await clean(store, texts, samples).catch(() => (isCleaned = false));
  if (isCleaned) await store.write((tx) => tx.erasures.setCleaning(false), { project: "none" });
  return problems.length === 0
    ? { messages, verified, problem: null }
    : { messages, verified: false, problem: problems.join("; ") };
}

function nobody({ email, phoneNumber, project }: CommandOf<"erase">): AdminError {
  const whose = email === null ? `phone number ${phoneNumber}` : `email ${email}`;
  return new AdminError(`no person found with ${whose} in ${project === null ? "any project" : `project ${project}`}`);
}

/** Others may have said or be described by the same words: those prove nothing. */
async function clean(store: Store, texts: readonly string[], samples: readonly string[]): Promise<boolean | null> {
  const isClean = await store.clean([...texts, ...samples]);
  if (isClean !== false) return isClean;
  const own = await withoutRows(store, samples);
  return own.length < samples.length ? store.clean([...texts, ...own]) : isClean;
}

async function chosenProjects(tx: Transaction, name: string | null): Promise<readonly ProjectRow[]> {
  return name === null ? tx.projects.list() : [await requireProject(tx, name)];
}

async function forEach<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

function sumUp(
  erasures: readonly Erasure[],
): Omit<ErasureInfo, "erased_at" | "projects" | "messages" | "mentions" | "verified" | "problem"> {
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

function toRetentionInfo(
  { responses, mode, requests, webhooks }: RetentionPolicy,
  expired: RetentionCounts,
): RetentionInfo {
  return {
    responses,
    mode: responses === null ? null : mode,
    requests,
    webhooks,
    expired_responses: expired.responses,
    expired_requests: expired.requests,
    expired_webhook_events: expired.events,
  };
}
