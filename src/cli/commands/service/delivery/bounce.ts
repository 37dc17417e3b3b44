import type { Command } from "commander";
import type { Admin } from "../../../../service/admin/commands.ts";
import type { Report } from "../../../../service/domain/delivery/bounces.ts";
import { type KeyedProvider, providerKeyProblem } from "../../../../service/domain/delivery/hook-secrets.ts";
import { REPORT_OUTCOMES, type ReportOutcome, REPORTS_MAX } from "../../../../service/domain/delivery/rows.ts";
import { parseEmail } from "../../../args/people.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { LIST_FLAGS, type ListLimits, readLimits } from "../../../command/list-rows.ts";
import { writeWarning } from "../../../command/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { DATA_FLAGS, type DataFileChoice, readPlace } from "../../../command/data-place.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showPages, showRecord, withAdmin } from "../data/data-file.ts";
import { projectVerb, serviceVerb } from "../project-verb.ts";
import { CLEARED, HOOKS, RECEIVED, SOFT_BOUNCES } from "../service-resources.ts";
import { HTTPS_NOTE, type KeyFlag, readKeys } from "./sms.ts";
import { checkColumns } from "../../../render/record-output.ts";

interface ReceiveOptions extends DataFileChoice {
  /** A Maildir; null for one message on standard input. */
  readonly dir: string | null;
  /** The envelope sender of surveys, with `{token}` in it; null: what `serve` was started with. */
  readonly bounceAddress: string | null;
}

type Counts = Record<"received" | ReportOutcome | "unreadable", number>;

/** The loaded code that reads messages: few runs of the program ever do. */
interface Reader {
  readonly maildir: typeof import("../../../../service/delivery/bounce/maildir.ts");
  readonly open: (admin: Admin) => Promise<(raw: Uint8Array) => Promise<Report>>;
}

async function runBounceReceive(deps: Deps, options: ReceiveOptions): Promise<ExitCode> {
  checkColumns(deps, RECEIVED);
  const { dir, bounceAddress, data } = options;
  const { env, streams } = deps;
  if (dir === null && streams.in.isTTY)
    throw new UsageError("standard input is a terminal; pipe a message in, or pass --dir");
  const { mailToReport } = await import("../../../../service/delivery/bounce/to-report.ts");
  const maildir = await import("../../../../service/delivery/bounce/maildir.ts");
  // Of the message on standard input alone: a Maildir has messages to many addresses.
  const envelope = dir === null ? { originalRecipient: env["ORIGINAL_RECIPIENT"], recipient: env["RECIPIENT"] } : {};
  const open: Reader["open"] = async (admin) => {
    const address = bounceAddress ?? (await admin({ kind: "bounce.address" })).bounce_address;
    const path = { ...envelope, bounceAddress: address ?? undefined };
    return (raw) => mailToReport(raw, path);
  };
  const reader: Reader = { maildir, open };
  const counts = dir === null ? await receiveOne(deps, reader, data) : await receiveDir(deps, reader, dir, data);
  await showRecord(deps, RECEIVED, counts);
  return EXIT.done;
}

function noCounts(): Counts {
  const names = ["received", ...REPORT_OUTCOMES, "unreadable"] as const;
  return Object.fromEntries(names.map((name) => [name, 0])) as Counts;
}

async function receiveOne(deps: Deps, { maildir, open }: Reader, data: DataFileChoice["data"]): Promise<Counts> {
  const raw = await maildir.readStart(deps.streams.in.bytes());
  const counts = noCounts();
  await withAdmin(deps, { data }, async (admin) => {
    const read = await open(admin);
    await send(admin, [await read(raw)], counts);
  });
  return counts;
}

async function send(admin: Admin, reports: readonly Report[], counts: Counts): Promise<void> {
  if (reports.length === 0) return;
  const recorded = await admin({ kind: "bounce.receive", reports });
  counts.received += reports.length;
  for (const outcome of REPORT_OUTCOMES) counts[outcome] += recorded[outcome];
}

/** Characters of reports that one command carries. */
const BATCH_CHARACTERS = 256 * 1024;

/**
 * Batch by batch, and each is marked as seen once it is recorded; after a crash in between it is known by its bytes.
 */
async function receiveDir(deps: Deps, reader: Reader, dir: string, data: DataFileChoice["data"]): Promise<Counts> {
  const { listUnseen, markSeen, NoMaildirError, readMessage } = reader.maildir;
  const messages = await listUnseen(dir).catch((error: unknown) => {
    throw error instanceof NoMaildirError ? new UsageError(`--dir: ${error.message}`, { cause: error }) : error;
  });
  const counts = noCounts();
  await withAdmin(deps, { data }, async (admin) => {
    const read = await reader.open(admin);
    let batch: { readonly message: (typeof messages)[number]; readonly report: Report }[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      await send(
        admin,
        batch.map(({ report }) => report),
        counts,
      );
      for (const { message } of batch)
        await markSeen(dir, message).catch((error: unknown) => warnOf(deps, message.name, error));
      [batch, size] = [[], 0];
    };
    for (const message of messages) {
      deps.signal.throwIfAborted();
      const raw = await readMessage(dir, message).catch((error: unknown) => warnOf(deps, message.name, error));
      if (raw === null) counts.unreadable += 1;
      else {
        const report = await read(raw);
        batch.push({ message, report });
        size += JSON.stringify(report).length;
      }
      if (batch.length === REPORTS_MAX || size > BATCH_CHARACTERS) await flush();
    }
    await flush();
  });
  return counts;
}

async function warnOf(deps: Deps, name: string, error: unknown): Promise<null> {
  await writeWarning(deps, `${name}: ${error instanceof Error ? error.message : "unknown error"}`);
  return null;
}

interface BounceListOptions extends ProjectChoice {
  readonly limits: ListLimits;
}

async function runBounceList(deps: Deps, { project, limits, data }: BounceListOptions): Promise<ExitCode> {
  return showPages(deps, {
    data,
    limits,
    resource: SOFT_BOUNCES,
    fetch: (admin, after, limit) => admin({ kind: "bounce.list", project, after, limit }),
  });
}

export function registerBounce(parent: Command, context: CommandContext): void {
  const noun = parent.command("bounce").description("surveys that came back, by mail or from a provider");
  registerReceive(noun, context);
  projectVerb(context, noun, {
    kind: "bounce.clear",
    name: "clear",
    summary: "send surveys again to an address that bounced, and print the bounce",
    operands: [["<email>", "the address"]],
    examples: [
      "surveyctl service bounce clear ada@example.com --data survey.db",
      "surveyctl service bounce clear ada@example.com --project acme --json",
    ],
    columns: CLEARED,
    details: ({ operands: [email = ""] }) => ({ email: parseEmail(email, "email") }),
    done: ({ email }) => `Cleared the bounce of ${email}. Surveys are sent to it again.`,
  });
  const list = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list addresses with soft bounces: 3 of the last 5 surveys",
    examples: [
      "surveyctl service bounce list --data survey.db",
      "surveyctl service bounce list --project acme --all -o csv",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [...PROJECT_FLAGS, ...LIST_FLAGS],
    columns: SOFT_BOUNCES,
  });
  context.action(list, (deps, flags) => runBounceList(deps, { ...readProject(flags), limits: readLimits(flags) }));
  registerHook(noun, context);
}

function registerReceive(noun: Command, context: CommandContext): void {
  const receive = context.verb(noun, {
    name: "receive",
    summary: "record a returned message from standard input, or those of a Maildir",
    examples: [
      "surveyctl service bounce receive --data survey.db < message.eml",
      "surveyctl service bounce receive --dir ~/Maildir --data survey.db",
    ],
    exits: [EXIT.done, EXIT.failed],
    flags: [
      ...DATA_FLAGS,
      { flag: "--dir", value: "directory", text: "Maildir to read; recorded messages are marked as seen" },
      { flag: "--bounce-address", value: "email", text: "bounce address, if not that of `serve`; contains {token}" },
    ],
    columns: RECEIVED,
  });
  context.action(receive, (deps, flags) =>
    runBounceReceive(deps, {
      data: readPlace(flags),
      dir: flags.text("--dir"),
      bounceAddress: flags.parse("--bounce-address", parseBounceAddress),
    }),
  );
}

/** Throws UsageError. */
function parseBounceAddress(text: string, flag: string): string {
  if (/^[^\s@{}]*\{token\}[^\s@{}]*@[^\s@{}]+$/.test(text)) return text;
  throw new UsageError(`${flag}: must have {token} before the @, such as bounces+{token}@acme.example`);
}

const KEY_FLAGS = [
  keyFlag("postmark", "--postmark-login", "file with user:password that Postmark logs in with"),
  keyFlag("sendgrid", "--sendgrid-key", "file with SendGrid's public key"),
  keyFlag("mailgun", "--mailgun-key", "file with Mailgun's signing key"),
];

function keyFlag(name: KeyedProvider, flag: `--${string}`, text: string): KeyFlag<KeyedProvider> {
  return { name, record: { flag, value: "file", text }, problem: (key) => providerKeyProblem(name, key) };
}

function registerHook(noun: Command, context: CommandContext): void {
  serviceVerb(context, noun, {
    kind: "bounce.hook",
    name: "hook",
    summary: "print the URLs at which mail providers report bounces; an empty file name clears a key",
    examples: [
      "surveyctl service bounce hook --data survey.db",
      "surveyctl service bounce hook --sendgrid-key sendgrid.pub --rotate --json",
    ],
    flags: [
      { flag: "--rotate", text: "create a new secret; the previous URLs stop working" },
      ...KEY_FLAGS.map(({ record }) => record),
    ],
    columns: HOOKS,
    details: async ({ flags }) => ({ rotate: flags.is("--rotate"), keys: await readKeys(flags, KEY_FLAGS) }),
    done: (_, { flags }) => (flags.is("--rotate") ? "The previous URLs no longer work." : null),
    notes: (hooks) => [
      ...(hooks.some(({ proof }) => proof === "refused") ? ["a key is kept, so unsigned reports are refused"] : []),
      ...(hooks.every(({ url }) => url.startsWith("https://")) ? [] : [HTTPS_NOTE]),
    ],
  });
}
