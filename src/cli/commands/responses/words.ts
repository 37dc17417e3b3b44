import type { JsonObject } from "../../../contract/json.ts";
import type { TermRow, WordTally } from "../../../insight/words.ts";
import { parseCount } from "../../args/values.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { writeDone } from "../../kit/notes.ts";
import { WRAP_FLAG } from "../../kit/rows/list-rows.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { type Resource, toResource } from "../../render/columns.ts";
import { writeList } from "../../render/list-output.ts";
import { categoryOf, commentOf } from "../shared/row-filters.ts";
import { readSelected, SELECTION } from "./selection.ts";

const CHANCE_MAX = 0.05;

const TERMS: Resource = {
  ...toResource("terms", {
    term: "text",
    group: "text",
    detractors: "number",
    promoters: "number",
    z: "points",
    q: "probability",
    quotes: "text",
    detractors_share: "share",
    promoters_share: "share",
  }),
  table: ["term", "group", "detractors", "detractors_share", "promoters", "promoters_share", "q", "quotes"],
  dropFirst: ["group", "promoters_share", "detractors_share"],
  flexible: "quotes",
};

export const words = defineCommand({
  name: "words",
  summary: "list the words that distinguish detractors from promoters, with quotes",
  examples: ["surveyctl responses words --since 90d", "surveyctl responses words --min-count 3 --redact --json"],
  flags: {
    selection: SELECTION,
    minCount: { value: "n", text: "only terms in at least this many comments", default: "5", parse: parseCount },
    limit: { short: "-L", value: "n", text: "maximum number of terms", default: "20", parse: parseCount },
    wrap: WRAP_FLAG,
  },
  columns: TERMS,
  async run(deps, { selection, minCount, limit, wrap }) {
    const { createWordTally } = await import("../../../insight/words.ts");
    const tally = createWordTally();
    const shaping = await readSelected(deps, selection, {
      take: (row) => addTo(tally, row),
      toShown: ({ id = null, score = null, comment = null }) => ({ id, score, comment }),
    });
    const terms = tally.rows(minCount);
    const listed = terms.slice(0, limit);
    const rows = listed.map((row) => ({ ...row, quotes: row.quotes.map(({ id, text }) => ({ id, text })) }));
    const shown = listed.map((row): JsonObject => ({ ...row, quotes: toQuoteLine(row) }));
    await writeList(deps, { resource: TERMS, wrap }, { rows: shown, text: JSON.stringify(rows) });
    await shaping.writeNotes();
    await writeDone(deps, describeResult(tally, terms));
    if (rows.length < terms.length)
      await writeDone(
        deps,
        `Showing ${formatCount(rows.length)} of ${countOf(terms.length, "term")}; --limit N shows more`,
      );
  },
});

function addTo(tally: WordTally, row: JsonObject): void {
  const text = commentOf(row);
  const category = categoryOf(row);
  if (text.trim() === "" || category === null || category === "passive") return;
  const id = typeof row["id"] === "string" ? row["id"] : JSON.stringify(row["id"] ?? null);
  tally.add(`${category}s`, { id, text });
}

function toQuoteLine({ quotes }: TermRow): string {
  return quotes.map(({ id, text }) => `"${text.replace(/\s+/g, " ")}" [${id}]`).join(" · ");
}

function describeResult({ comments }: WordTally, terms: readonly TermRow[]): string {
  const read = `${countOf(comments.detractors, "comment")} of detractors, ${formatCount(comments.promoters)} of promoters`;
  const found = terms.filter(({ q }) => q < CHANCE_MAX).length;
  const verb = found === 1 ? "tells" : "tell";
  const result = found === 0 ? "no term is typical of either group" : `${countOf(found, "term")} ${verb} them apart`;
  return `${read}; ${result} (q < ${CHANCE_MAX})`;
}
