import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { createWordTally, type TermRow, type WordTally } from "../../../insight/words.ts";
import { parseInteger } from "../../args/values.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { countOf, formatCount, writeDone } from "../../command/notes.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { checkColumns } from "../../render/record-output.ts";
import { categoryOf, commentOf } from "./selection/row-filters.ts";
import { REDACT_FLAG } from "./selection/redaction.ts";
import { forSelection, SELECTION_FLAGS, openSelection, readSelection, type Selection } from "./selection/selection.ts";

interface WordsOptions extends Selection {
  readonly minCount: number;
  readonly limit: number;
}

const MIN_COUNT_DEFAULT = 5;
const LIMIT_DEFAULT = 20;
const CHANCE_MAX = 0.05;

const TERMS: Resource = {
  noun: "terms",
  columns: [
    pathColumn("term"),
    pathColumn("group"),
    pathColumn("detractors", "number"),
    pathColumn("promoters", "number"),
    pathColumn("z", "points"),
    pathColumn("q", "probability"),
    pathColumn("quotes"),
    pathColumn("detractors_share", "share"),
    pathColumn("promoters_share", "share"),
  ],
  table: ["term", "group", "detractors", "detractors_share", "promoters", "promoters_share", "q", "quotes"],
  dropFirst: ["group", "promoters_share", "detractors_share"],
  flexible: "quotes",
  fields: [],
};

export function registerResponsesWords(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "words",
    summary: "list the words that tell detractors from promoters, with quotes",
    examples: ["surveyctl responses words --since 90d", "surveyctl responses words --min-count 3 --redact --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      ...SELECTION_FLAGS,
      REDACT_FLAG,
      {
        flag: "--min-count",
        value: "n",
        text: "only terms in at least this many comments",
        otherwise: String(MIN_COUNT_DEFAULT),
      },
      { flag: "--limit", short: "-L", value: "n", text: "maximum number of terms", otherwise: String(LIMIT_DEFAULT) },
      { flag: "--wrap", text: "wrap wide text in tables instead of cutting it" },
    ],
    columns: TERMS,
  });
  context.action(command, (deps, flags) => {
    const count = (flag: string, otherwise: number): number =>
      flags.parse(flag, (text, place) => parseInteger(text, place, { min: 1 })) ?? otherwise;
    return runResponsesWords(deps, {
      ...readSelection(deps, flags),
      minCount: count("--min-count", MIN_COUNT_DEFAULT),
      limit: count("--limit", LIMIT_DEFAULT),
      wrap: flags.is("--wrap"),
    });
  });
}

async function runResponsesWords(deps: Deps, options: WordsOptions & { readonly wrap?: boolean }): Promise<ExitCode> {
  checkColumns(deps, TERMS);
  const tally = createWordTally();
  const selection = openSelection(deps, options, toShown);
  const readAll = withClient(forSelection(deps, options), async (client) => {
    for await (const { rows } of selection.pages(client)) for (const row of rows) addTo(tally, row);
  });
  await withRefusals(readAll, noTrend(options.trend));
  const terms = tally.rows(options.minCount);
  const rows = terms.slice(0, options.limit).map(toRow);
  const output = await openListOutput(deps, { resource: TERMS, wrap: options.wrap ?? false });
  await output.write({ rows: rows.map(withQuoteLines), text: JSON.stringify(rows) });
  await output.end();
  await selection.writeNotes();
  await writeDone(deps, describeResult(tally, terms));
  if (rows.length < terms.length)
    await writeDone(
      deps,
      `Showing ${formatCount(rows.length)} of ${countOf(terms.length, "term", "terms")}; --limit N shows more`,
    );
  return EXIT.done;
}

function toShown({ id = null, score = null, comment = null }: JsonObject): JsonObject {
  return { id, score, comment };
}

function addTo(tally: WordTally, row: JsonObject): void {
  const text = commentOf(row);
  const category = categoryOf(row);
  if (text.trim() === "" || category === null || category === "passive") return;
  const id = typeof row["id"] === "string" ? row["id"] : JSON.stringify(row["id"] ?? null);
  tally.add(category === "detractor" ? "detractors" : "promoters", { id, text });
}

function toRow(row: TermRow): JsonObject {
  return { ...row, quotes: row.quotes.map(({ id, text }) => ({ id, text })) };
}

function withQuoteLines(row: JsonObject): JsonObject {
  const quotes = Array.isArray(row["quotes"]) ? (row["quotes"] as { id: string; text: string }[]) : [];
  return { ...row, quotes: quotes.map(({ id, text }) => `"${text.replace(/\s+/g, " ")}" [${id}]`).join(" · ") };
}

function describeResult({ comments }: WordTally, terms: readonly TermRow[]): string {
  const read = `${countOf(comments.detractors, "comment", "comments")} of detractors, ${formatCount(comments.promoters)} of promoters`;
  const found = terms.filter(({ q }) => q < CHANCE_MAX).length;
  const verb = found === 1 ? "tells" : "tell";
  const result = found === 0 ? "no term tells them apart" : `${countOf(found, "term", "terms")} ${verb} them apart`;
  return `${read}; ${result} (q < ${CHANCE_MAX})`;
}
