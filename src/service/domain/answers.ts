/** What people do through the links of a message: answer a survey, or unsubscribe. A link is its survey's token. */
import { SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { InvalidError, NotFoundError } from "./errors.ts";
import { unsubscribePerson } from "./events.ts";
import type { Project } from "./inputs.ts";
import type { SurveyLink, Transaction } from "./ports.ts";

/** The survey that a link leads to. Throws NotFoundError. */
export async function findSurvey(tx: Transaction, token: string): Promise<SurveyLink> {
  const survey = await tx.requests.byToken(token);
  if (survey === null) throw new NotFoundError("no such survey");
  return survey;
}

/** Records the answer to a survey, with the survey's properties; a second one changes the first. */
export async function answerSurvey(
  tx: Transaction,
  token: string,
  answer: { readonly score: number; readonly comment: string | null },
): Promise<{ project: Project; responseId: number; created: boolean }> {
  const { score, comment } = answer;
  if (!Number.isInteger(score) || score < SCORE_MIN || score > SCORE_MAX) {
    throw new InvalidError({ score: [`must be an integer from ${SCORE_MIN} to ${SCORE_MAX}`] });
  }
  const { project, personId, requestId, properties, responseId } = await findSurvey(tx, token);
  if (responseId !== null) {
    await tx.responses.update(project.id, responseId, { score, comment, updatedAt: tx.now });
    return { project, responseId, created: false };
  }
  const times = { createdAt: tx.now, updatedAt: tx.now };
  const given = { personId, requestId, score, comment, personProperties: properties, token: tx.token() };
  return { project, responseId: await tx.responses.insert(project.id, { ...given, ...times }), created: true };
}

/** The unsubscribe link of a message. Throws NotFoundError. */
export async function unsubscribeByLink(tx: Transaction, token: string): Promise<{ created: boolean }> {
  const { project, personId } = await findSurvey(tx, token);
  return unsubscribePerson(tx, project, personId);
}
