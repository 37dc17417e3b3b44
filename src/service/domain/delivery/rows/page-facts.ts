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

/** Reads the JSON column, which is null if no one has opened the page. */
export function readPageFacts(value: SqlValue | undefined): PageFacts {
  return typeof value === "string" ? (JSON.parse(value) as PageFacts) : NO_VISITS;
}
