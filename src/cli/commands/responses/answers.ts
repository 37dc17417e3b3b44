import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { type AnswerTally, createAnswerTally, type QuestionResult } from "../../../insight/answers/answer-tally.ts";
import type { ShownTexts } from "../../../insight/answers/shown-texts.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { labelAt, PERIOD_UNITS, type PeriodUnit } from "../../../runtime/calendar/periods.ts";
import type { Flags } from "../../args/flags.ts";
import { parseChoice, parseInteger, parseName } from "../../args/values.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { writeNote } from "../../command/notes.ts";
import { propertyOf } from "../../command/rows/properties.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { checkColumns } from "../../render/record-output.ts";
import { REDACT_FLAG } from "./selection/redaction.ts";
import { forSelection, openSelection, readSelection, type Selection, SELECTION_FLAGS } from "./selection/selection.ts";

interface AnswersOptions extends Selection {
  readonly question: string | null;
  readonly by: PeriodUnit | null;
  readonly segment: string | null;
  readonly minCount: number;
}

const MIN_COUNT_DEFAULT = 5;

const GROUPS = { period: pathColumn("period"), segment: pathColumn("segment") } as const;

/** A row for each choice and each number; one for the mean of a scale, and one for free answers. */
function answersResource({ by, segment }: Pick<AnswersOptions, "by" | "segment">): Resource {
  const groups = [...(by === null ? [] : [GROUPS.period]), ...(segment === null ? [] : [GROUPS.segment])];
  const columns = [
    ...groups,
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
  const names = columns.map(({ name }) => name);
  return {
    noun: "answers",
    columns,
    table: names.filter((name) => !["type", "text", "answered"].includes(name)),
    dropFirst: ["nps_low", "nps_high", "mean_low", "mean_high", "share_low", "share_high", "words"],
    fields: [],
  };
}

export function registerResponsesAnswers(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "answers",
    summary: "count the answers to further questions, with the score of those who gave them",
    examples: [
      "surveyctl responses answers --since 90d",
      "surveyctl responses answers --question q_improve --by month",
      "surveyctl responses answers --question q_improve --segment plan --score 0-6 --json",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      ...SELECTION_FLAGS,
      REDACT_FLAG,
      { flag: "--question", value: "id", text: "only this question", otherwise: "all" },
      { flag: "--by", value: "period", text: "count each period separately", choices: PERIOD_UNITS },
      { flag: "--segment", value: "name", text: "count each value of this property separately" },
      {
        flag: "--min-count",
        value: "n",
        text: "only words in at least this many answers",
        otherwise: String(MIN_COUNT_DEFAULT),
      },
    ],
    columns: answersResource({ by: null, segment: null }),
  });
  context.action(command, (deps, flags) => runResponsesAnswers(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): AnswersOptions {
  return {
    ...readSelection(deps, flags),
    question: flags.parse("--question", parseName),
    by: flags.parse("--by", (text, place) => parseChoice(text, place, PERIOD_UNITS)),
    segment: flags.text("--segment"),
    minCount: flags.parse("--min-count", (text, place) => parseInteger(text, place, { min: 1 })) ?? MIN_COUNT_DEFAULT,
  };
}

async function runResponsesAnswers(deps: Deps, options: AnswersOptions): Promise<ExitCode> {
  const resource = answersResource(options);
  checkColumns(deps, resource);
  const groups = new Map<string, { readonly group: JsonObject; readonly tally: AnswerTally }>();
  // One name for a choice in all groups, so that their rows can be joined.
  const texts: ShownTexts = new Map();
  const groupOf = createGrouping(deps, options);
  const selection = openSelection(deps, options);
  const readAll = withClient(
    forSelection(deps, options, options.segment === null ? [] : [options.segment]),
    async (client) => {
      for await (const { rows } of selection.pages(client)) {
        for (const row of rows) {
          const group = groupOf(row);
          const key = JSON.stringify(group);
          const known = groups.get(key) ?? { group, tally: createAnswerTally(options.question, texts) };
          groups.set(key, known);
          known.tally.add(row);
        }
      }
    },
  );
  await withRefusals(readAll, noTrend(options.trend));
  const rows = [...groups.values()].flatMap(({ group, tally }) =>
    tally
      .results(options.minCount)
      .flatMap((result) => toRows(result).map((row): JsonObject => ({ ...group, ...row }))),
  );
  const output = await openListOutput(deps, { resource });
  await output.write({ rows: rows.map(withWordList), text: JSON.stringify(rows) });
  await output.end();
  await selection.writeNotes();
  if (rows.length === 0)
    await writeNote(deps, options.question === null ? "no answers" : `no answers to ${options.question}`);
  return EXIT.done;
}

/**
 * The fields by which a response is told apart from others; those of all are the same without `--by` and `--segment`.
 */
function createGrouping(deps: Deps, { by, segment }: AnswersOptions): (row: JsonObject) => JsonObject {
  const wallClock = createWallClock(deps.options.timeZone);
  return (row) => {
    const { created_at: at } = row;
    const period = by === null || typeof at !== "number" ? null : labelAt(by, at, wallClock);
    return {
      ...(by === null ? {} : { period }),
      ...(segment === null ? {} : { segment: propertyOf(row, "person_properties", segment) }),
    };
  };
}

function toRows({ question, type, text, answered, values, mean, words }: QuestionResult): JsonObject[] {
  const about = { question, type, text };
  const hasWhole = mean !== null || words !== null;
  const summary = { ...about, value: null, n: answered, answered, ...NONE, ...mean, words: words && toTerms(words) };
  const rows = values.map(({ value, n, ...rest }): JsonObject => {
    return { ...about, value, n, answered, ...NONE, ...rest };
  });
  return [...(hasWhole ? [summary] : []), ...rows];
}

const EMPTY = [
  "share",
  "share_low",
  "share_high",
  "nps",
  "nps_low",
  "nps_high",
  "mean",
  "mean_low",
  "mean_high",
  "words",
] as const;
const NONE: JsonObject = Object.fromEntries(EMPTY.map((name) => [name, null]));

const WORDS_MAX = 10;

function toTerms(words: NonNullable<QuestionResult["words"]>): JsonObject[] {
  return words.slice(0, WORDS_MAX).map(({ term, group, detractors, promoters, q }) => {
    return { term, group, detractors, promoters, q };
  });
}

function withWordList(row: JsonObject): JsonObject {
  const { words } = row;
  if (!Array.isArray(words)) return row;
  return { ...row, words: words.map((term) => (term as { readonly term: string }).term).join(", ") };
}
