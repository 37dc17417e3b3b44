import { appendFile, truncate } from "node:fs/promises";
import { formatEntry } from "../../../bulk/import/journal/journal-entry.ts";
import { openRecordedOutcomes } from "../../../bulk/import/journal/recorded-outcomes.ts";
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { toIsoTime } from "../../../contract/text/iso-time.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { KeptError, NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { lockRun } from "../../importing/run-files.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { writeDone } from "../../kit/notes.ts";
import { confirmRemoval } from "../../kit/removal.ts";
import { changeEach } from "../../kit/rows/change-each.ts";
import { nullIfRefused } from "../../kit/refusals.ts";
import type { PlannedRequest } from "../../kit/write-outcome.ts";
import type { Resource } from "../../render/columns.ts";
import { findRuns, type ImportRun } from "./runs.ts";

/** What the import wrote to one person. A row in doubt has no writes. */
interface PersonRows {
  readonly line: number;
  readonly identifier: string;
  readonly personId: string;
  readonly writes: JsonObject[];
}

const UNDONE_COMMANDS = /^(?:people|responses|autopilot) import/;

export async function undoImport(deps: Deps, file: string, resource: Resource, yes: boolean): Promise<void> {
  const { files } = await findRun(file);
  // Without the lock, an import that resumes while undo asks for confirmation would lose its records.
  const lock = deps.options.dryRun ? null : await lockRun(files, deps);
  try {
    await undoRun(deps, await findRun(file), resource, yes);
  } finally {
    await lock?.release();
  }
}

async function undoRun(deps: Deps, run: ImportRun, resource: Resource, yes: boolean): Promise<void> {
  await withClient(deps, async (_, connection) => {
    const { baseUrl, key } = run.head;
    if (connection.place !== baseUrl)
      throw new UsageError(`this import went to ${baseUrl}`, { hint: "use the same connection" });
    if ((await connection.keyFingerprint()) !== key)
      throw new UsageError("this import used another API key", { hint: "use the same key" });
  });
  const items = await readPeople(run);
  const plan = describePlan(run, items);
  if (deps.options.dryRun) await writeDone(deps, plan);
  if (items.length === 0) return writeDone(deps, "There is nothing to undo.");
  await changeEach(deps, {
    items,
    resource,
    named: ({ line, identifier }) => ({ line, identifier }),
    nameOf: ({ line, identifier }) => `line ${line}, ${identifier}`,
    plan: async (_, item) => (item.writes.length === 0 ? null : toRequest(item)),
    confirm: async (client) => {
      await requireRoute(client, deps.signal);
      const removal = { command: "imports undo", yes, kept: "Nothing was undone.", isList: true };
      await confirmRemoval(deps, removal, () => `${plan} at ${client.baseUrl}. Undo it?`);
      await markUndone(run);
    },
    work: async (client, item) => ({ outcome: await undoOne(client, item, deps.signal) }),
    summary: (count) => `Undone: ${countOf(count, "person", "people")}.`,
  });
}

/** Throws NothingFoundError if there is no record, UsageError if it isn't one of a single, finished import. */
async function findRun(file: string): Promise<ImportRun> {
  const [run, ...others] = await findRuns(file);
  if (run === undefined) throw new NothingFoundError(`no import of ${file} is recorded`);
  if (others.length > 0)
    throw new UsageError(`${file} was imported more than once; name the results of one`, {
      hint: [run, ...others].map(({ files }) => files.results).join(", "),
    });
  if (!UNDONE_COMMANDS.test(run.head.command))
    throw new UsageError(`${run.files.results} is a record of ${run.head.command}, which cannot be undone`);
  return run;
}

/** A killed import may have left half an entry. */
async function markUndone({ files, state }: ImportRun): Promise<void> {
  if (state.undone) return;
  await truncate(files.journal, state.length);
  await appendFile(files.journal, `${formatEntry({ undone: true })}\n`, { flush: true });
}

/** Leaves out rows that were refused or skipped, because they wrote nothing. */
async function readPeople({ files, state }: ImportRun): Promise<PersonRows[]> {
  const people = new Map<string, PersonRows>();
  const doubtful: PersonRows[] = [];
  const outcomes = await openRecordedOutcomes(files.journal);
  try {
    for await (const batch of outcomes.inOrder())
      for (const { line, identifier, personId, writes = [], outcome, mayHaveArrived = false } of batch) {
        if (personId === null || writes.length === 0) {
          const wroteNothing = outcome === "skipped" || (outcome === "failed" && !mayHaveArrived);
          if (!wroteNothing) doubtful.push({ line, identifier, personId: "", writes: [] });
          continue;
        }
        const known = people.get(personId);
        if (known === undefined) people.set(personId, { line, identifier, personId, writes: [...writes] });
        else known.writes.push(...writes);
      }
  } finally {
    await outcomes.close();
  }
  for (const line of state.undecided) doubtful.push({ line, identifier: "", personId: "", writes: [] });
  return [...people.values(), ...doubtful];
}

function describePlan({ head }: ImportRun, items: readonly PersonRows[]): string {
  const writes = items.flatMap((item) => item.writes);
  const created = writes.filter(({ before }) => before === null).length;
  const parts: readonly (readonly [verb: string, count: number, one: string, many: string])[] = [
    ["created", created, "person", "people"],
    ["updated", writes.filter(({ before }) => before !== undefined).length - created, "person", "people"],
    ["scheduled", writes.filter(({ survey }) => typeof survey === "string").length, "survey", "surveys"],
    ["added", writes.filter(({ response }) => response !== undefined).length, "response", "responses"],
    ["enrolled", writes.filter(({ member }) => member !== undefined).length, "member", "members"],
    ["left", items.filter((item) => item.writes.length === 0).length, "row in doubt", "rows in doubt"],
  ];
  const deeds = parts.filter(([, count]) => count > 0).map(([verb, ...counted]) => `${verb} ${countOf(...counted)}`);
  return `${head.command} of ${head.file} (${toIsoTime(head.at)}) ${deeds.join(", ") || "wrote nothing"}`;
}

function toRequest({ personId, writes }: PersonRows): PlannedRequest {
  return { route: ROUTES.undoWrites, placeholders: { person: personId }, body: { writes } };
}

/** Sends a request that undoes nothing, to see whether the service has the route. */
async function requireRoute(client: Client, signal: AbortSignal): Promise<void> {
  const nobody = { line: 0, identifier: "", personId: "0", writes: [] };
  if ((await nullIfRefused(client.change({ ...toRequest(nobody), signal }))) === null)
    throw new NothingFoundError("this service cannot undo imports");
}

async function undoOne(client: Client, item: PersonRows, signal: AbortSignal): Promise<string> {
  if (item.writes.length === 0)
    throw new KeptError("the record doesn't say what the import did, so nothing was undone");
  const result = await client.change({ ...toRequest(item), signal });
  if (result.kind === "unknown") throw result.error.advise("the same command finishes it");
  const { done = [], kept = [] } = (result.kind === "answered" ? result.reply.json : result.found) as Record<
    string,
    readonly string[]
  >;
  if (kept.length > 0) throw new KeptError([...kept, ...done].join("; "));
  return done.join(", ") || "nothing left to undo";
}
