import type { JsonObject } from "../../../contract/json.ts";
import type { AnswerTally, QuestionResult } from "../../../insight/answers/answer-tally.ts";
import type { ShownTexts } from "../../../insight/answers/shown-texts.ts";
import { labelAt, PERIOD_UNITS, type PeriodUnit } from "../../../runtime/calendar/periods.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { parseCount, parseName } from "../../args/values.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeNote } from "../../kit/notes.ts";
import { propertyOf } from "../../kit/rows/properties.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { writeList } from "../../render/list-output.ts";
import { checkColumns } from "../../render/record-output.ts";
import { readSelected, SELECTION } from "./selection.ts";

const WORDS_MAX = 10;

/** One row per choice or number, one for a scale's mean, and one for free text. */
const COLUMNS = [
  pathColumn("question", "id"),
  pathColumn("type"),
  pathColumn("text"),
  pathColumn("value"),
  pathColumn("n", "number"),
  pathColumn("answered", "number"),
  ...["share", "share_low", "share_high"].map((name) => pathColumn(name, "share")),
  ...["nps", "nps_low", "nps_high"].map((name) => pathColumn(name, "points")),
  ...["mean", "mean_low", "mean_high"].map((name) => pathColumn(name, "points")),
  pathColumn("words"),
];

const NO_VALUES: JsonObject = Object.fromEntries(COLUMNS.map(({ name }) => [name, null]));

function answersResource(groups: readonly string[]): Resource {
  const columns = [...groups.map((name) => pathColumn(name)), ...COLUMNS];
  return {
    noun: "answers",
    columns,
    table: columns.map(({ name }) => name).filter((name) => !["type", "text", "answered"].includes(name)),
    dropFirst: ["nps_low", "nps_high", "mean_low", "mean_high", "share_low", "share_high", "words"],
  };
}

export const answers = defineCommand({
  name: "answers",
  summary: "count the answers to further questions, with the score of those who gave them",
  examples: [
    "surveyctl responses answers --since 90d",
    "surveyctl responses answers --question q_improve --by month",
    "surveyctl responses answers --question q_improve --segment plan --score 0-6 --json",
  ],
  flags: {
    selection: SELECTION,
    question: { value: "id", text: "only this question", otherwise: "all", parse: parseName },
    by: { value: "period", text: "count each period separately", choices: PERIOD_UNITS },
    segment: { value: "name", text: "count each value of this property separately" },
    minCount: { value: "n", text: "only words in at least this many answers", default: "5", parse: parseCount },
  },
  columns: answersResource([]),
  columnsVary: true,
  async run(deps, { selection, question, by, segment, minCount }) {
    const resource = answersResource([...(by === null ? [] : ["period"]), ...(segment === null ? [] : ["segment"])]);
    checkColumns(deps, resource);
    const { createAnswerTally } = await import("../../../insight/answers/answer-tally.ts");
    const groups = new Map<string, { readonly group: JsonObject; readonly tally: AnswerTally }>();
    // Shared by all groups, so that each choice has the same name everywhere and rows can be joined.
    const texts: ShownTexts = new Map();
    const groupOf = createGrouping(deps, by, segment);
    const shaping = await readSelected(deps, selection, {
      segments: segment === null ? [] : [segment],
      take(row) {
        const group = groupOf(row);
        const key = JSON.stringify(group);
        const known = groups.get(key) ?? { group, tally: createAnswerTally(question, texts) };
        groups.set(key, known);
        known.tally.add(row);
      },
    });
    const rows = [...groups.values()].flatMap(({ group, tally }) =>
      tally
        .results(minCount)
        .flatMap(toRows)
        .map((row): JsonObject => ({ ...group, ...row })),
    );
    await writeList(deps, { resource }, { rows: rows.map(withWordList), text: JSON.stringify(rows) });
    await shaping.writeNotes();
    if (rows.length === 0) await writeNote(deps, question === null ? "no answers" : `no answers to ${question}`);
  },
});

function createGrouping({ options }: Deps, by: PeriodUnit | null, segment: string | null) {
  const wallClock = createWallClock(options.timeZone);
  return (row: JsonObject): JsonObject => {
    const { created_at: at } = row;
    const period = by === null || typeof at !== "number" ? null : labelAt(by, at, wallClock);
    return {
      ...(by !== null && { period }),
      ...(segment !== null && { segment: propertyOf(row, "person_properties", segment) }),
    };
  };
}

function toRows({ question, type, text, answered, values, mean, words }: QuestionResult): JsonObject[] {
  const about = { ...NO_VALUES, question, type, text, answered };
  const terms = words?.slice(0, WORDS_MAX).map(({ term, group, detractors, promoters, q }): JsonObject => {
    return { term, group, detractors, promoters, q };
  });
  const summary = { ...about, n: answered, ...mean, words: terms ?? null };
  return [...(mean === null && words === null ? [] : [summary]), ...values.map((row) => ({ ...about, ...row }))];
}

function withWordList(row: JsonObject): JsonObject {
  const { words } = row;
  if (!Array.isArray(words)) return row;
  return { ...row, words: words.map((term) => (term as { readonly term: string }).term).join(", ") };
}
