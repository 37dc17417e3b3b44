import type { Report } from "../../../../service/domain/delivery/bounces.ts";
import { REPORT_OUTCOMES, REPORTS_MAX } from "../../../../service/domain/delivery/rows.ts";
import type { Store } from "../../../../service/domain/ports.ts";
import type { DataFileChoice } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeWarning } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { PLACE, showRecord, withStore } from "../data/data-file.ts";
import { toResource } from "../../../render/columns.ts";

const COUNTED = ["received", ...REPORT_OUTCOMES, "unreadable"] as const;
type Counts = Record<(typeof COUNTED)[number], number>;

const RECEIVED = toResource("messages", Object.fromEntries(COUNTED.map((name) => [name, "number"])));

export const receive = defineCommand({
  name: "receive",
  summary: "record a returned message from standard input, or all those in a Maildir",
  examples: [
    "surveyctl service bounce receive --data survey.db < message.eml",
    "surveyctl service bounce receive --dir ~/Maildir --data survey.db",
  ],
  exits: [EXIT.done, EXIT.failed],
  flags: {
    place: PLACE,
    dir: { value: "directory", text: "Maildir to read; recorded messages are marked as seen" },
    bounceAddress: {
      value: "email",
      text: "bounce address with {token}, if different from that of `serve`",
      parse: parseBounceAddress,
    },
  },
  columns: RECEIVED,
  run: async (deps, { place, dir, bounceAddress }) => {
    const { env, streams } = deps;
    if (dir === null && streams.in.isTTY)
      throw new UsageError("standard input is a terminal; pipe a message in, or pass --dir");
    const { mailToReport } = await import("../../../../service/delivery/bounce/to-report.ts");
    // The mail server sets these variables for the message on standard input. A Maildir has messages to many addresses.
    const envelope = dir === null ? { originalRecipient: env["ORIGINAL_RECIPIENT"], recipient: env["RECIPIENT"] } : {};
    const open: OpenReader = async (store) => {
      const address = bounceAddress ?? (await store.read((tx) => tx.tables.mark("bounce address")));
      return (raw) => mailToReport(raw, { ...envelope, bounceAddress: address ?? undefined });
    };
    const counts = dir === null ? await receiveOne(deps, place, open) : await receiveDir(deps, place, open, dir);
    await showRecord(deps, RECEIVED, counts);
  },
});

type OpenReader = (store: Store) => Promise<(raw: Uint8Array) => Promise<Report>>;

function noCounts(): Counts {
  return Object.fromEntries(COUNTED.map((name) => [name, 0])) as Counts;
}

async function receiveOne(deps: Deps, place: DataFileChoice, open: OpenReader): Promise<Counts> {
  const { readStart } = await import("../../../../service/delivery/bounce/maildir.ts");
  const raw = await readStart(deps.streams.in.bytes());
  const counts = noCounts();
  await withStore(deps, { ...place, changes: true }, async (_, store) => {
    const read = await open(store);
    await record(store, [await read(raw)], counts);
  });
  return counts;
}

async function record(store: Store, reports: readonly Report[], counts: Counts): Promise<void> {
  const { recordReports } = await import("../../../../service/domain/delivery/bounces.ts");
  const outcomes = await store.write((tx) => recordReports(tx, reports), { project: "all" });
  counts.received += reports.length;
  for (const outcome of outcomes) counts[outcome] += 1;
}

const BATCH_CHARACTERS = 256 * 1024;

/** Marks messages as seen after they are recorded. A crash in between does no harm: a message is recorded only once. */
async function receiveDir(deps: Deps, place: DataFileChoice, open: OpenReader, dir: string): Promise<Counts> {
  const { listUnseen, markSeen, NoMaildirError, readMessage } =
    await import("../../../../service/delivery/bounce/maildir.ts");
  const messages = await listUnseen(dir).catch((error: unknown) => {
    throw error instanceof NoMaildirError ? new UsageError(`--dir: ${error.message}`, { cause: error }) : error;
  });
  const counts = noCounts();
  await withStore(deps, { ...place, changes: true }, async (_, store) => {
    const read = await open(store);
    let batch: { readonly message: (typeof messages)[number]; readonly report: Report }[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      const reports = batch.map(({ report }) => report);
      if (reports.length > 0) await record(store, reports, counts);
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

function parseBounceAddress(text: string, flag: string): string {
  if (/^[^\s@{}]*\{token\}[^\s@{}]*@[^\s@{}]+$/.test(text)) return text;
  throw new UsageError(`${flag}: must have {token} before the @, such as bounces+{token}@acme.example`);
}
