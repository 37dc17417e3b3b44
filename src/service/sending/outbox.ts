/** Messages as files, one per message: `.eml` for mail, `.json` for texts. A file is complete or doesn't exist. */
import { createHash } from "node:crypto";
import { lstat, readdir, unlink } from "node:fs/promises";
import path from "node:path";
import {
  isDiskFull,
  openReplacement,
  syncFolder,
  TEMPORARY_SUFFIX,
  UnwritableFileError,
} from "../../runtime/files/file-replacement.ts";
import { readRegular } from "../../runtime/files/file-kind.ts";
import { makeFolder } from "../../runtime/files/make-folder.ts";
import { isPrivate } from "../../runtime/files/processes.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createSemaphore } from "../../runtime/parallel.ts";
import type { Random } from "../../runtime/random.ts";
import type {
  AttemptFacts,
  DeliveryResult,
  ErasedFiles,
  MessageFiles,
  MessageSender,
} from "../domain/delivery/sender.ts";
import type { DueDigest, DueQuestion, DueReminder, DueSurvey, ErasedSurvey } from "../domain/ports.ts";
import { formatSurveyMail, freezeMail } from "../delivery/message/survey-mail.ts";
import type { MailContext } from "../delivery/message/sender.ts";
import { formatSurveySms } from "../delivery/message/survey-sms.ts";

interface OutboxContext extends MailContext {
  readonly now: number;
}

/**
 * A message is delivered once its file is durable. It is never marked, because writing the file again changes nothing.
 */
export interface Outbox extends MessageSender, MessageFiles {
  /** Removes messages older than `before` (Unix milliseconds; null keeps all) and unfinished files. */
  readonly prune: (before: number | null, now: number) => Promise<void>;
  /** Rejects with ForeignOutboxError if others could read or change messages. */
  readonly check: () => Promise<void>;
}

export interface OutboxOptions {
  readonly folder: string;
  /** Its process is the only writer of these messages. */
  readonly dataFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly context: (project: DueSurvey["project"]) => Promise<OutboxContext>;
  readonly formatDigest: (due: DueDigest) => Promise<Formatted>;
  readonly onError: (error: unknown) => void;
}

/** A link, not a folder, owned by another user, or writable by others. */
export class ForeignOutboxError extends Error {
  override readonly name = "ForeignOutboxError";
  readonly reason: "link" | "file" | "open";

  constructor(reason: ForeignOutboxError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Messages in progress; their folder is synced once for all. */
const BATCH = 64;
/** More would only wait for the same disk. */
const CONCURRENCY = 8;
const FIRST_RETRY_SECONDS = 15;
const LAST_RETRY_SECONDS = 3600;
const DISK_FULL_RETRY_SECONDS = 2;
const TOKEN_HASH_LENGTH = 20;
const OWNER_HASH_LENGTH = 12;
const TEMPORARY_MAX_AGE_MS = 3_600_000;
const NAME = String.raw`\d+-\d+-[0-9a-f]{20}(?:-\d+)?\.(?:eml|json)`;
const MESSAGE = new RegExp(`^${NAME}$`);
/** An unfinished message: its name, the owner's hash and a random part. */
const TEMPORARY = new RegExp(`^${NAME}\\.[\\w-]+\\${TEMPORARY_SUFFIX}$`);

/**
 * A file's name contains a hash of its token, so it is unique across data files. A survey whose sending was interrupted
 * finds its own file and is written exactly once.
 */
export function createOutbox({
  folder,
  dataFile,
  clock,
  random,
  context,
  formatDigest,
  onError,
}: OutboxOptions): Outbox {
  // Part of temporary names, so that files left by a crash are recognized.
  const owner = hashOf(dataFile, OWNER_HASH_LENGTH);
  const state = { isSwept: false };
  const prepare = async (): Promise<void> => {
    await makeFolder(folder, 0o700);
    await checkFolder(folder);
    if (!state.isSwept) await sweep(folder, owner);
    state.isSwept = true;
  };
  const group = createWriteGroup(prepare, () => syncFolder(folder));
  const write = async (
    name: string,
    attempts: number,
    make: () => Formatted | Promise<Formatted>,
  ): Promise<DeliveryResult> => {
    const startedMs = clock.monotonic();
    const facts = (text: string | null): AttemptFacts => ({ ...FACTS, text, ms: clock.monotonic() - startedMs });
    try {
      const made = await make();
      await group.write(() => writeOnce(path.join(folder, name), made, `${owner}-${random.token(9)}`));
      return { kind: "sent", attempt: { ...facts(null), serverId: name } };
    } catch (error) {
      // The cause has the system's code.
      const cause = error instanceof UnwritableFileError ? (error.cause ?? error) : error;
      onError(cause);
      const text = cause instanceof Error ? cause.message : "unknown";
      return { kind: "retry", delaySeconds: retryDelay(error, attempts), attempt: facts(text) };
    }
  };
  return {
    name: "outbox",
    channels: ["email", "sms", "digest", "reminder", "sms-reminder"],
    capacity: () => BATCH,
    deliver: async (due, progress) => {
      if (due.channel === "reply") throw new TypeError("replies do not go into the outbox");
      if (due.channel !== "digest")
        return write(questionName(due), due.attempts, async () => format(due, await context(due.project)));
      // This takes long, and people may be erased meanwhile.
      const digest = await formatDigest(due);
      if (!(await progress.mayStillSend())) return { kind: "cancelled", reason: "withdrawn" };
      return write(digestName(due), due.attempts, () => digest);
    },
    erase: (surveys) => eraseFrom(folder, surveys),
    prune: (before, now) => prune(folder, before, now),
    check: () => checkFolder(folder).catch(ignoreMissing),
  };
}

const FACTS = { stage: "outbox", code: null, enhancedCode: null, text: null, host: null, serverId: null, ms: 0 };

interface WriteGroup {
  /** Resolves once what `work` wrote is durable. */
  readonly write: (work: () => Promise<void>) => Promise<void>;
}

/** Files written together are prepared for once and synced once. */
function createWriteGroup(prepare: () => Promise<void>, sync: () => Promise<void>): WriteGroup {
  const turns = createSemaphore(CONCURRENCY);
  const state: { open: number; prepared: Promise<void> | null; written: ((synced: Promise<void>) => void)[] } = {
    open: 0,
    prepared: null,
    written: [],
  };
  const end = (): void => {
    state.open -= 1;
    if (state.open > 0) return;
    const { written } = state;
    Object.assign(state, { prepared: null, written: [] });
    if (written.length === 0) return;
    const synced = sync();
    for (const resolve of written) resolve(synced);
  };
  return {
    write: async (work) => {
      state.open += 1;
      await turns.enter();
      try {
        state.prepared ??= prepare();
        await state.prepared;
        await work();
      } catch (error) {
        turns.leave();
        end();
        throw error;
      }
      turns.leave();
      const isSynced = new Promise<void>((resolve) => void state.written.push(resolve));
      end();
      await isSynced;
    },
  };
}

function retryDelay(error: unknown, attempts: number): number {
  if (isDiskFull(error)) return DISK_FULL_RETRY_SECONDS;
  return Math.min(FIRST_RETRY_SECONDS * 2 ** attempts, LAST_RETRY_SECONDS);
}

function fileName({ project, requestId, channel, token }: ErasedSurvey, number: number | null = null): string {
  const ending = `${number === null ? "" : `-${number}`}.${channel === "sms" ? "json" : "eml"}`;
  return `${project.id}-${requestId}-${hashOf(token, TOKEN_HASH_LENGTH)}${ending}`;
}

/** Named after its survey, so that both are erased together. */
function questionName(due: DueQuestion): string {
  if (!("survey" in due)) return fileName(due);
  const { project, token, survey } = due;
  return fileName({ project, token, ...survey }, due.requestId);
}

function digestName({ project, digestId, token, scheduledAt }: DueDigest): string {
  return fileName({ project, requestId: digestId, channel: "email", token }, scheduledAt);
}

/** Name without a number, also of an unfinished file; empty for other files. */
function ownerOf(name: string): string {
  if (!MESSAGE.test(name) && !TEMPORARY.test(name)) return "";
  const [stem = "", ending = ""] = name.split(".", 2);
  return `${stem.split("-", 3).join("-")}.${ending}`;
}

function hashOf(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

interface Formatted {
  readonly text: string;
  /** Occurs only in this message. */
  readonly mark: string;
}

async function format(due: DueQuestion, { now, ...context }: OutboxContext): Promise<Formatted> {
  if (due.channel === "sms" || due.channel === "sms-reminder")
    return { text: formatSurveySms(due, context), mark: due.token };
  // Without a mark nothing is frozen. Derived from the token, each rendering is the same.
  const frozen = freezeMail(due, context, tokensFrom(seedOf(due)), now);
  const message = "survey" in due ? withSurvey(due, context, now) : due;
  return { text: await formatSurveyMail(message, frozen, context), mark: frozen.messageId };
}

function seedOf(due: DueQuestion): string {
  return "survey" in due ? `${due.requestId} ${due.token}` : due.token;
}

/** Refers to its survey's file, unless that was sent elsewhere. */
function withSurvey(due: DueReminder, context: MailContext, now: number): DueReminder {
  if (due.survey.frozen !== null) return due;
  const { messageId } = freezeMail({ ...due, frozen: null }, context, tokensFrom(due.token), now);
  return { ...due, survey: { ...due.survey, frozen: { messageId, bounceToken: null, values: {} } } };
}

function tokensFrom(seed: string): Pick<Random, "token"> {
  const state = { count: 0 };
  return {
    token: (bytes) => {
      state.count += 1;
      return createHash("sha256").update(`${state.count} ${seed}`).digest().subarray(0, bytes).toString("base64url");
    },
  };
}

async function checkFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (found.isSymbolicLink()) throw new ForeignOutboxError("link", `${folder} is a symbolic link`);
  if (!found.isDirectory()) throw new ForeignOutboxError("file", `${folder} is not a directory`);
  if (!isPrivate(found, 0o022))
    throw new ForeignOutboxError("open", `${folder} belongs to or can be written by other users`);
}

/** A complete file that contains the mark is this message. */
async function writeOnce(file: string, { text, mark }: Formatted, unique: string): Promise<void> {
  const existing = await readRegular(file).catch(() => "");
  if (existing.includes(mark)) return;
  const replacement = await openReplacement(file, unique);
  try {
    await replacement.write(Buffer.from(text));
    await replacement.commit({ syncsFolder: false });
  } catch (error) {
    await replacement.discard();
    throw error;
  }
}

/** Unfinished files with our name are from a dead process. */
async function sweep(folder: string, owner: string): Promise<void> {
  for (const name of await readdir(folder))
    if (TEMPORARY.test(name) && name.includes(`.${owner}-`)) await removeIfThere(path.join(folder, name));
}

async function eraseFrom(folder: string, surveys: readonly ErasedSurvey[]): Promise<ErasedFiles> {
  const owners = new Map(surveys.map((survey) => [fileName(survey), survey]));
  const found = new Set<ErasedSurvey>();
  let removed = 0;
  for (const name of await namesIn(folder)) {
    const survey = owners.get(ownerOf(name));
    if (survey === undefined) continue;
    removed += await removeIfThere(path.join(folder, name));
    found.add(survey);
  }
  await syncFolder(folder).catch(ignoreMissing);
  return { removed, surveys: [...found] };
}

async function prune(folder: string, before: number | null, now: number): Promise<void> {
  await checkFolder(folder).catch(ignoreMissing);
  for (const name of await namesIn(folder)) {
    const limit = MESSAGE.test(name) ? before : TEMPORARY.test(name) ? now - TEMPORARY_MAX_AGE_MS : null;
    if (limit === null) continue;
    const file = path.join(folder, name);
    const written = (await lstat(file).catch(() => null))?.mtimeMs ?? limit;
    if (written < limit) await removeIfThere(file);
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    ignoreMissing(error);
    return [];
  });
}

/** Counts 1 if it existed. Anything but a regular file stays. */
async function removeIfThere(file: string): Promise<number> {
  try {
    if (!(await lstat(file)).isFile()) return 0;
    await unlink(file);
    return 1;
  } catch (error) {
    ignoreMissing(error);
    return 0;
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
