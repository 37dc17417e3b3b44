import type { DueReply, Transaction } from "../ports.ts";

/** Doesn't ask for something that was given while the question waited. Null if the reply can be sent. */
export async function refuseReply(tx: Transaction, { project, kind, token }: DueReply): Promise<string | null> {
  if (kind !== "ask-again" && kind !== "ask-comment") return null;
  const { responseId = null } = (await tx.requests.byToken(token)) ?? {};
  const answer = responseId === null ? null : await tx.responses.byId(project.id, responseId);
  const isGiven = kind === "ask-again" ? answer !== null : (answer?.comment ?? null) !== null;
  return isGiven ? "answered" : null;
}
