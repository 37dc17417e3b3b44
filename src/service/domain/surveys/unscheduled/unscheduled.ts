import type { Channel } from "../../../../contract/routes.ts";
import type { SurveyStatus } from "../../../../contract/text/survey-status.ts";
import type { Project } from "../../inputs.ts";
import type { Transaction } from "../../ports.ts";

const KEPT_SECONDS = 400 * 86_400;

export async function noteUnscheduled(
  tx: Transaction,
  project: Project,
  personId: number,
  { channel, status }: { readonly channel: Channel; readonly status: SurveyStatus },
): Promise<void> {
  await tx.unscheduled.add(project.id, { personId, channel, status });
}

/** Deletes those older than 400 days, up to `limit`. True if there may be more. */
export async function pruneUnscheduled(tx: Transaction, limit: number): Promise<boolean> {
  return (await tx.unscheduled.prune(tx.now - KEPT_SECONDS, limit)) === limit;
}
