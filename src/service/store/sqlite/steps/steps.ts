import type { Database } from "../engine/database.ts";
import type { Session } from "../engine/session.ts";
import { followActivityStep, followFrequencyStep } from "../rows/autopilot-configuration.ts";
import type { ListBlocks } from "../lists/list-blocks.ts";
import type { LongChangeKind, Step } from "./long-changes.ts";
import { removePersonStep } from "../rows/person-removal.ts";
import { fillTrendStep, removeTrendStep } from "../rows/trend-rows.ts";

/** How each kind of long change does a step. */
export function createSteps(
  database: Database,
  session: Session,
  blocks: ListBlocks,
): Readonly<Record<LongChangeKind, Step>> {
  return {
    "fill trend": (change) => fillTrendStep(database, blocks, change),
    "remove trend": (change) => removeTrendStep(database, blocks, change),
    "remove person": (change) => removePersonStep(database, blocks, change),
    "follow frequency": (change) => followFrequencyStep(database, session.now, change),
    "follow activity": (change) => followActivityStep(database, change),
  };
}
