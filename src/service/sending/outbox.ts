/** Writes messages to files, one per message: `.eml` for mail, `.json` for SMS. A file is complete or doesn't exist. */
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
import { unixSeconds } from "../../runtime/clock.ts";
import { createSemaphore } from "../../runtime/parallel.ts";
import type { Random } from "../../runtime/random.ts";
import type {
  DeliveryProgress,
  DeliveryResult,
  ErasedFiles,
  MessageFiles,
  MessageSender,
} from "../domain/delivery/sender.ts";
import type { DueMessage, DueQuestion, DueReminder, ErasedSurvey } from "../domain/ports.ts";
import { formatSurveyMail, freezeMail } from "../delivery/message/survey-mail.ts";
import type { MailContext } from "../delivery/message/sender.ts";
import { formatSurveySms } from "../delivery/message/survey-sms.ts";
import type { MailTools } from "./mail.ts";

export interface OutboxOptions extends Pick<MailTools, "clock" | "random" | "readContext" | "makeDigest" | "onError"> {
  readonly channels: MessageSender["channels"];
  readonly folder: string;
  /** The data file whose messages these are; only its server writes them. */
  readonly dataFile: string;
}

/** The folder is a link or not a folder, is owned by another user, or can be written to by others. */
export class ForeignOutboxError extends Error {
  override readonly name = "ForeignOutboxError";
  readonly reason: "link" | "file" | "open";

  constructor(reason: ForeignOutboxError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Maximum messages in progress. Their folder is synced once for all of them. */
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
/** The name of an unfinished message, followed by the hash of the owner and a random part. */
const TEMPORARY = new RegExp(`^${NAME}\\.[\\w-]+\\${TEMPORARY_SUFFIX}$`);

const FACTS = { stage: "outbox", code: null, enhancedCode: null, text: null, host: null, serverId: null };

/** Doesn't mark messages, because the retry of an interrupted message finds the file that was already written. */
export class Outbox implements MessageSender, MessageFiles {
  readonly name = "outbox";
  readonly channels: MessageSender["channels"];
  readonly #options: OutboxOptions;
  readonly #owner: string;
  readonly #group: WriteGroup;
  #isSwept = false;

  constructor(options: OutboxOptions) {
    const { channels, folder, dataFile } = options;
    this.channels = channels;
    this.#options = options;
    this.#owner = hash(dataFile, OWNER_HASH_LENGTH);
    this.#group = new WriteGroup(
      () => this.#prepare(),
      () => syncFolder(folder),
    );
  }

  capacity(): number {
    return BATCH;
  }

  async deliver(due: DueMessage, progress: DeliveryProgress): Promise<DeliveryResult> {
    const { readContext, makeDigest, clock } = this.#options;
    const { attempts, project } = due;
    if (due.channel === "reply") throw new TypeError("replies do not go into the outbox");
    if (due.channel !== "digest")
      return this.#write(questionName(due), attempts, async () =>
        formatQuestion(due, await readContext(project), unixSeconds(clock)),
      );
    // Making a digest takes a while, so the digest may have been withdrawn in the meantime.
    const { text, messageId } = await makeDigest(due, await readContext(project), null);
    if (!(await progress.mayStillSend())) return { kind: "cancelled", reason: "withdrawn" };
    const name = fileName({ project, requestId: due.digestId, channel: "email", token: due.token }, due.scheduledAt);
    return this.#write(name, attempts, async () => ({ text, mark: messageId }));
  }

  async erase(surveys: readonly ErasedSurvey[]): Promise<ErasedFiles> {
    const { folder } = this.#options;
    const owners = new Map(surveys.map((survey) => [fileName(survey), survey]));
    const found = new Set<ErasedSurvey>();
    let removed = 0;
    for (const name of await namesIn(folder)) {
      const survey = owners.get(surveyFileName(name));
      if (survey === undefined) continue;
      removed += await removeIfThere(path.join(folder, name));
      found.add(survey);
    }
    await syncFolder(folder).catch(ignoreMissing);
    return { removed, surveys: [...found] };
  }

  /** Removes messages older than this (null keeps all) and unfinished files. */
  async prune(keepSeconds: number | null): Promise<void> {
    const { folder, clock } = this.#options;
    const now = clock.now();
    const before = keepSeconds === null ? null : now - keepSeconds * 1000;
    await this.check();
    for (const name of await namesIn(folder)) {
      const limit = MESSAGE.test(name) ? before : TEMPORARY.test(name) ? now - TEMPORARY_MAX_AGE_MS : null;
      if (limit === null) continue;
      const file = path.join(folder, name);
      const written = (await lstat(file).catch(() => null))?.mtimeMs ?? limit;
      if (written < limit) await removeIfThere(file);
    }
  }

  /** Rejects with ForeignOutboxError if others could read or change the messages. */
  async check(): Promise<void> {
    await checkFolder(this.#options.folder).catch(ignoreMissing);
  }

  async #write(name: string, attempts: number, make: () => Promise<Formatted>): Promise<DeliveryResult> {
    const { folder, clock, random, onError } = this.#options;
    const startedMs = clock.monotonic();
    try {
      const formatted = await make();
      const unique = `${this.#owner}-${random.token(9)}`;
      await this.#group.write(() => writeOnce(path.join(folder, name), formatted, unique));
      return { kind: "sent", attempt: { ...FACTS, serverId: name, ms: clock.monotonic() - startedMs } };
    } catch (error) {
      // The cause has the system's error code.
      const cause = error instanceof UnwritableFileError ? (error.cause ?? error) : error;
      onError(cause);
      const text = cause instanceof Error ? cause.message : "unknown";
      const attempt = { ...FACTS, text, ms: clock.monotonic() - startedMs };
      const backOff = Math.min(FIRST_RETRY_SECONDS * 2 ** attempts, LAST_RETRY_SECONDS);
      return { kind: "retry", delaySeconds: isDiskFull(error) ? DISK_FULL_RETRY_SECONDS : backOff, attempt };
    }
  }

  async #prepare(): Promise<void> {
    const { folder } = this.#options;
    await makeFolder(folder, 0o700);
    await checkFolder(folder);
    if (this.#isSwept) return;
    // Unfinished files of the same owner were left by a dead process.
    for (const name of await readdir(folder))
      if (TEMPORARY.test(name) && name.includes(`.${this.#owner}-`)) await removeIfThere(path.join(folder, name));
    this.#isSwept = true;
  }
}

/** Prepares the folder, and syncs it only once for files that are written together. */
class WriteGroup {
  readonly #turns = createSemaphore(CONCURRENCY);
  readonly #prepare: () => Promise<void>;
  readonly #sync: () => Promise<void>;
  #open = 0;
  #prepared: Promise<void> | null = null;
  #written: ((synced: Promise<void>) => void)[] = [];

  constructor(prepare: () => Promise<void>, sync: () => Promise<void>) {
    this.#prepare = prepare;
    this.#sync = sync;
  }

  async write(work: () => Promise<void>): Promise<void> {
    this.#open += 1;
    await this.#turns.enter();
    try {
      this.#prepared ??= this.#prepare();
      await this.#prepared;
      await work();
    } catch (error) {
      this.#turns.leave();
      this.#end();
      throw error;
    }
    this.#turns.leave();
    const isSynced = new Promise<void>((resolve) => void this.#written.push(resolve));
    this.#end();
    await isSynced;
  }

  #end(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    const written = this.#written;
    this.#prepared = null;
    this.#written = [];
    if (written.length === 0) return;
    const synced = this.#sync();
    for (const resolve of written) resolve(synced);
  }
}

function fileName({ project, requestId, channel, token }: ErasedSurvey, number: number | null = null): string {
  const ending = `${number === null ? "" : `-${number}`}.${channel === "sms" ? "json" : "eml"}`;
  return `${project.id}-${requestId}-${hash(token, TOKEN_HASH_LENGTH)}${ending}`;
}

/** The file is named after its survey, so that both are erased together. */
function questionName(due: DueQuestion): string {
  if (!("survey" in due)) return fileName(due);
  const { project, token, survey } = due;
  return fileName({ project, token, ...survey }, due.requestId);
}

/** Turns the name of an unfinished file or a reminder into that survey's file name; empty for other files. */
function surveyFileName(name: string): string {
  if (!MESSAGE.test(name) && !TEMPORARY.test(name)) return "";
  const [stem = "", ending = ""] = name.split(".", 2);
  return `${stem.split("-", 3).join("-")}.${ending}`;
}

function hash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

interface Formatted {
  readonly text: string;
  readonly mark: string;
}

async function formatQuestion(due: DueQuestion, context: MailContext, now: number): Promise<Formatted> {
  if (due.channel === "sms" || due.channel === "sms-reminder")
    return { text: formatSurveySms(due, context), mark: due.token };
  // The outbox doesn't mark messages, so no values are frozen; a seed from the token makes every rendering the same.
  const seed = "survey" in due ? `${due.requestId} ${due.token}` : due.token;
  const frozen = freezeMail(due, context, tokensFrom(seed), now);
  const message = "survey" in due ? withSurvey(due, context, now) : due;
  return { text: await formatSurveyMail(message, frozen, context), mark: frozen.messageId };
}

/** Makes the reminder refer to the file of its survey, unless that survey wasn't written here. */
function withSurvey(due: DueReminder, context: MailContext, now: number): DueReminder {
  if (due.survey.frozen !== null) return due;
  const { messageId } = freezeMail({ ...due, frozen: null }, context, tokensFrom(due.token), now);
  return { ...due, survey: { ...due.survey, frozen: { messageId, bounceToken: null, values: {} } } };
}

function tokensFrom(seed: string): Pick<Random, "token"> {
  let count = 0;
  return {
    token: (bytes) => {
      count += 1;
      return createHash("sha256").update(`${count} ${seed}`).digest().subarray(0, bytes).toString("base64url");
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

/** Does nothing if the file already contains the mark: an earlier attempt wrote this message. */
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

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    ignoreMissing(error);
    return [];
  });
}

/** Returns 1 if the file existed, else 0. Removes only regular files. */
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
