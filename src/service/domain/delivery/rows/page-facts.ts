import type { PageFacts } from "../rows.ts";
import type { SqlValue } from "../../../sql/database.ts";

const NO_VISITS: PageFacts = {
  firstGetAt: null,
  gets: 0,
  scores: [],
  scoreAt: null,
  manyScores: false,
  headSeen: false,
  answeredBy: null,
  answeredAfter: null,
};

/** Of the column, as JSON; of a survey whose page nobody has seen, nothing. */
export function readPageFacts(value: SqlValue | undefined): PageFacts {
  return typeof value === "string" ? (JSON.parse(value) as PageFacts) : NO_VISITS;
}
