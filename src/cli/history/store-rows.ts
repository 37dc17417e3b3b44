/** The second pass over saved files, which stores rows in batches, suppressions first. */
import type { ConflictPolicy, Imported } from "../../service/domain/history/import-people.ts";
import { importHistory, type PastRows } from "../../service/domain/history/import-responses.ts";
import type { Store } from "../../service/domain/ports.ts";
import {
  HISTORY_STEPS,
  type HistoryStep,
  type PastPerson,
  type PastResponse,
} from "../../service/domain/history/rows.ts";
import type { HistoryStream } from "../../service/history/columns.ts";
import { writeInProject } from "../../service/operations/define/operation.ts";
import type { HistoryTally } from "../../service/history/tally.ts";
import {
  type HistoryProblem,
  type HistoryReading,
  type HistorySurvey,
  openRows,
  type SurveyedSource,
} from "./survey-sources.ts";

/** A batch is one transaction, which delays other writes by some tens of milliseconds. */
const BATCH_ROWS = 1000;
const BATCH_BYTES = 256 * 1024;

const STREAMS: Readonly<Record<HistoryStep, readonly HistoryStream[]>> = {
  suppressions: ["unsubscribes", "bounces"],
  people: ["people"],
  marks: ["unsubscribes", "bounces"],
  responses: ["responses"],
};

/** No-ops, because the first pass has already reported these. */
const NO_HOOKS = { onColumn: (): void => undefined, onLost: (): void => undefined, onOtherKind: (): void => undefined };

export interface StoredCounts {
  kept: number;
  unchanged: number;
  conflicts: number;
  refused: number;
}

export interface StoreOptions {
  readonly store: Store;
  readonly project: string;
  readonly onConflict: ConflictPolicy;
  readonly updatedAt: "keep" | "now";
  readonly webhooks: boolean;
  readonly survey: HistorySurvey;
  readonly reading: HistoryReading;
  readonly onProblem: (problem: HistoryProblem) => void;
  readonly onRows: (rows: number) => Promise<void>;
}

interface LocatedRow {
  readonly file: string;
  readonly line: number;
  readonly stream: HistoryStream;
  readonly row: PastPerson | PastResponse;
}

export interface StoredRows {
  readonly streams: ReadonlyMap<HistoryStream, StoredCounts>;
  readonly nameless: number;
}

/** After an interrupt, stored rows remain, and the next run of the same import recognizes them. */
export async function storeRows(options: StoreOptions): Promise<StoredRows> {
  const counts = new Map<HistoryStream, StoredCounts>();
  const people = new PeopleHere();
  const fresh = createFreshMarks();
  const nameless = new Set<number>();
  let done = 0;
  for (const step of HISTORY_STEPS) {
    const send = async (batch: readonly LocatedRow[]): Promise<void> => {
      const { store, project, onConflict, webhooks } = options;
      const rows = batch.map(({ row }) => row);
      const saved = { step, rows } as PastRows;
      const imported = await writeInProject(store, project, (tx, found) =>
        importHistory(tx, found, saved, { policy: onConflict, webhooks }),
      );
      people.learn(imported, batch);
      for (const id of imported.nameless) nameless.add(id);
      for (const id of imported.named) nameless.delete(id);
      if (step === "suppressions") fresh.add(imported.kept, batch[0]?.stream);
      else count(counts, fresh.take(imported, batch[0]?.stream), batch, options.onProblem);
      done += batch.length;
      await options.onRows(done);
      options.reading.signal.throwIfAborted();
    };
    await sendStep(options, step, people, counts, send);
  }
  return { streams: counts, nameless: nameless.size };
}

async function sendStep(
  { survey, reading, updatedAt, onProblem }: StoreOptions,
  step: HistoryStep,
  people: PeopleHere,
  counts: Map<HistoryStream, StoredCounts>,
  send: (batch: readonly LocatedRow[]) => Promise<void>,
): Promise<void> {
  let batch: LocatedRow[] = [];
  let bytes = 0;
  for (const source of survey.sources.filter((each) => holds(each, step))) {
    let ordinal = source.firstOrdinal;
    for await (const rows of (await openRows(source.source, reading, NO_HOOKS)).rows)
      for (const { line, size, row } of rows) {
        const isWanted = row !== null && "row" in row && STREAMS[step].includes(row.stream);
        const isNewest = isWanted && survey.tally.isNewest(ordinal);
        ordinal += 1;
        if (!isNewest || !isWanted) continue;
        const place = { file: source.source.name, line, stream: row.stream };
        const placed =
          row.stream === "responses"
            ? people.place(asUpdated(survey.parts.complete(row.row), updatedAt))
            : people.name(asKnown(row.row, step, survey.tally));
        if (placed === null) {
          countsOf(counts, row.stream).refused += 1;
          onProblem({ ...place, outcome: "refused", reason: "its person was refused" });
          continue;
        }
        if (batch.length > 0 && batch[0]?.stream !== row.stream) {
          await send(batch);
          [batch, bytes] = [[], 0];
        }
        batch.push({ ...place, row: placed });
        bytes += size;
        if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
        await send(batch);
        [batch, bytes] = [[], 0];
      }
  }
  if (batch.length > 0) await send(batch);
}

/** Sets `answeredAt` here, because setting it for each answer would rewrite the same database pages repeatedly. */
function asKnown(person: PastPerson, step: HistoryStep, tally: HistoryTally): PastPerson {
  if (person.id === null) return person;
  const answeredAt = step === "people" ? tally.answeredAt(person.id) : null;
  const createdAt = person.createdAt ?? tally.createdAt(person.id);
  return answeredAt === null ? { ...person, createdAt } : { ...person, createdAt, answeredAt };
}

function asUpdated(response: PastResponse, updatedAt: StoreOptions["updatedAt"]): PastResponse {
  return updatedAt === "keep" ? response : { ...response, updatedAt: null };
}

function holds({ shape }: SurveyedSource, step: HistoryStep): boolean {
  if (shape === null) return false;
  return shape.stream === null || (STREAMS[step] as readonly string[]).includes(shape.stream);
}

/** Imported people whom the service knows under another id, and imported ids that belong to someone else there. */
class PeopleHere {
  readonly #aliases = new Map<number, number>();
  readonly #refused = new Set<number>();

  learn(imported: Imported, batch: readonly LocatedRow[]): void {
    for (const [id, known] of imported.aliases) this.#aliases.set(id, known);
    for (const { index } of imported.refused) {
      const row = batch[index]?.row;
      if (row !== undefined && !("person" in row) && row.id !== null) this.#refused.add(row.id);
    }
  }

  name(person: PastPerson): PastPerson {
    const known = person.id === null ? undefined : this.#aliases.get(person.id);
    return known === undefined ? person : { ...person, id: known, email: null, phoneNumber: null, createdAt: null };
  }

  place(response: PastResponse): PastResponse | null {
    if (response.person.id !== null && this.#refused.has(response.person.id)) return null;
    return this.#aliases.size === 0 ? response : { ...response, person: this.name(response.person) };
  }
}

/**
 * Importing a suppression already stores its person. This keeps such people from being counted as unchanged when their
 * own row follows.
 */
function createFreshMarks() {
  const fresh = new Map<HistoryStream, number>();
  return {
    add(marks: number, stream: HistoryStream = "people"): void {
      fresh.set(stream, (fresh.get(stream) ?? 0) + marks);
    },
    take(imported: Imported, stream: HistoryStream = "people"): Imported {
      const left = fresh.get(stream) ?? 0;
      const taken = Math.min(left, imported.same);
      fresh.set(stream, left - taken);
      return { ...imported, kept: imported.kept + taken, same: imported.same - taken };
    },
  };
}

function countsOf(counts: Map<HistoryStream, StoredCounts>, stream: HistoryStream): StoredCounts {
  const known = counts.get(stream) ?? { kept: 0, unchanged: 0, conflicts: 0, refused: 0 };
  counts.set(stream, known);
  return known;
}

function count(
  counts: Map<HistoryStream, StoredCounts>,
  imported: Imported,
  batch: readonly LocatedRow[],
  onProblem: (problem: HistoryProblem) => void,
): void {
  for (const [outcome, findings] of [
    ["conflict", imported.conflicts],
    ["refused", imported.refused],
  ] as const)
    for (const { index, text: reason } of findings) {
      const placed = batch[index];
      if (placed === undefined) continue;
      const { file, line, stream } = placed;
      countsOf(counts, stream)[outcome === "conflict" ? "conflicts" : "refused"] += 1;
      onProblem({ file, line, stream, outcome, reason });
    }
  const [first] = batch;
  if (first === undefined) return;
  const own = countsOf(counts, first.stream);
  own.kept += imported.kept + imported.changed;
  own.unchanged += imported.same;
}
