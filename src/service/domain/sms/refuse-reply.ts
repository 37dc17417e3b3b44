import type { DueReply, Transaction } from "../ports.ts";

/** Nobody is asked for what they have given while the question waited. Null while the reply may go out. */
export async function refuseReply(tx: Transaction, { project, kind, token }: DueReply): Promise<string | null> {
  if (kind !== "ask-again" && kind !== "ask-comment") return null;
  const { responseId = null } = (await tx.requests.byToken(token)) ?? {};
  const answer = responseId === null ? null : await tx.responses.byId(project.id, responseId);
  const isGiven = kind === "ask-again" ? answer !== null : (answer?.comment ?? null) !== null;
  return isGiven ? "answered" : null;
}
