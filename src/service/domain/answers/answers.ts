import { SCORE_MAX, SCORE_MIN, TEXT_BYTES_MAX } from "../../../contract/limits.ts";
import { resumeMember } from "../surveys/autopilot/autopilot.ts";
import { confirmSent } from "../delivery/deliveries.ts";
import { LINK_SECONDS } from "../delivery/reminders.ts";
import { InvalidError, NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type {
  ErasedLink,
  NewResponse,
  PageFacts,
  PersonRow,
  ResponseRow,
  Store,
  SurveyLink,
  Transaction,
} from "../ports.ts";
import { peoplePages } from "../people/everybody.ts";
import { resubscribePerson, stopTexts, unsubscribePerson } from "../people/suppressions.ts";
import { changeResponse, storeResponse } from "./response-changes.ts";
import type { KeptAnswer } from "./take-answer.ts";
import { noteEvent } from "../webhooks/events.ts";

export interface Visit {
  readonly survey: SurveyLink;
  readonly answer: ResponseRow | null;
}

export async function visitSurvey(tx: Transaction, token: string): Promise<Visit | null> {
  const survey = await tx.requests.byToken(token);
  if (survey === null) return null;
  const { project, responseId } = survey;
  return { survey, answer: responseId === null ? null : await tx.responses.byId(project.id, responseId) };
}

export function linkState({ survey, answer }: Visit, now: number, windowSeconds: number): "open" | "closed" | "ended" {
  if (answer !== null) return now - answer.createdAt <= windowSeconds ? "open" : "closed";
  return survey.sentAt !== null && now - survey.sentAt > LINK_SECONDS ? "ended" : "open";
}

export interface GivenAnswer {
  readonly score: number;
  /** Undefined keeps the stored comment; empty removes it. */
  readonly comment?: string;
  readonly by: "script" | "button" | "text";
}

/** Stores the first answer, or changes it while that is still allowed. Throws NotFoundError and InvalidError. */
export async function answerSurvey(
  tx: Transaction,
  token: string,
  given: GivenAnswer,
  windowSeconds: number,
): Promise<KeptAnswer> {
  const { score, comment, by } = cleanAnswer(given);
  const visit = await visitSurvey(tx, token);
  if (visit === null) throw new NotFoundError("no such survey");
  const { survey, answer } = visit;
  const { project, requestId, personId, properties } = survey;
  // An answer may be the first proof that the survey was sent, so record it before `confirmSent`.
  if (answer === null) await tx.requests.noteAnswer(survey);
  await confirmSent(tx, project, requestId);
  if (answer !== null) return changeFirstAnswer(tx, project, answer, { score, comment }, windowSeconds);
  const answeredAfter = survey.sentAt === null ? null : tx.now - survey.sentAt;
  await tx.requests.setPageFacts(project.id, requestId, { ...survey.pageFacts, answeredBy: by, answeredAfter });
  const row = { personId, requestId, score, comment: comment ?? null, personProperties: properties };
  return storeFirstAnswer(tx, project, { ...row, token: tx.token() });
}

export async function storeFirstAnswer(
  tx: Transaction,
  project: Project,
  answer: Omit<NewResponse, "createdAt" | "updatedAt">,
): Promise<KeptAnswer> {
  const times = { createdAt: tx.now, updatedAt: tx.updatedAt };
  const responseId = await storeResponse(tx, project.id, { ...answer, ...times });
  await noteEvent(tx, project, { type: "survey_response.created", responseId });
  return { responseId, score: answer.score, mayChange: true };
}

export async function changeFirstAnswer(
  tx: Transaction,
  project: Project,
  answer: ResponseRow,
  given: AnswerChange,
  windowSeconds: number,
): Promise<KeptAnswer> {
  const mayChange = tx.now - answer.createdAt <= windowSeconds;
  if (mayChange) await changeAnswer(tx, project, answer, given);
  return { responseId: answer.id, score: mayChange ? given.score : answer.score, mayChange };
}

interface AnswerChange {
  readonly score: number;
  readonly comment?: string | null | undefined;
}

export async function changeAnswer(
  tx: Transaction,
  project: Project,
  answer: ResponseRow,
  { score, comment = answer.comment }: AnswerChange,
): Promise<boolean> {
  if (score === answer.score && comment === answer.comment) return false;
  await changeResponse(tx, project.id, answer.id, { score, comment, updatedAt: tx.updatedAt });
  await noteEvent(tx, project, { type: "survey_response.updated", responseId: answer.id });
  return true;
}

/** Drops an empty comment. Throws InvalidError for an invalid score or a long comment. */
export function cleanAnswer<Given extends { readonly score: number; readonly comment?: string }>(
  given: Given,
): Omit<Given, "comment"> & { readonly comment: string | null | undefined } {
  const comment = given.comment === undefined ? undefined : given.comment.trim() || null;
  checkScore(given.score);
  if (Buffer.byteLength(comment ?? "") > TEXT_BYTES_MAX)
    throw new InvalidError({ comment: [`is too long (maximum is ${TEXT_BYTES_MAX} bytes)`] });
  return { ...given, comment };
}

export function checkScore(score: number): void {
  if (Number.isInteger(score) && score >= SCORE_MIN && score <= SCORE_MAX) return;
  throw new InvalidError({ score: [`must be an integer from ${SCORE_MIN} to ${SCORE_MAX}`] });
}

export interface Look {
  readonly method: "GET" | "HEAD";
  readonly score: number | null;
}

/** Counts a visit to a survey's page. Stores nothing about the visitor. */
export async function noteLook(tx: Transaction, token: string, look: Look): Promise<void> {
  const survey = await tx.requests.byToken(token);
  if (survey !== null)
    await tx.requests.setPageFacts(survey.project.id, survey.requestId, addLook(survey.pageFacts, look, tx.now));
}

export function addLook(facts: PageFacts, { method, score }: Look, now: number): PageFacts {
  if (method === "HEAD") return { ...facts, headSeen: true };
  const isOther = score !== null && facts.scores.some((one) => one !== score);
  return {
    ...facts,
    firstGetAt: facts.firstGetAt ?? now,
    gets: facts.gets + 1,
    scores: score === null || facts.scores.includes(score) ? facts.scores : [...facts.scores, score],
    scoreAt: score === null ? facts.scoreAt : now,
    manyScores: facts.manyScores || (isOther && now - (facts.scoreAt ?? 0) <= OTHER_SCORE_SECONDS),
  };
}

const OTHER_SCORE_SECONDS = 60;
/** No one reads an e-mail this soon after it was sent, but programs follow its links. */
const EARLY_SECONDS = 30;

/**
 * True if a program, such as a mail scanner, seems to follow the links in this e-mail. Its page then stores nothing
 * until someone clicks.
 */
export function looksScanned(facts: PageFacts, sentAt: number | null): boolean {
  const isEarly = sentAt !== null && facts.firstGetAt !== null && facts.firstGetAt - sentAt < EARLY_SECONDS;
  return facts.headSeen || facts.manyScores || isEarly;
}

const UNDO_SECONDS = 30 * 86_400;

/** `mayReturn` is false for text messages: a person resubscribes to them only by texting START. */
export async function readLeaver(
  tx: Transaction,
  link: SurveyLink,
): Promise<{ address: string | null; hasLeft: boolean; mayReturn: boolean }> {
  const person = await tx.people.byId(link.project.id, link.personId);
  const { email = null, phoneNumber = null, unsubscribedAt = null } = person ?? {};
  if (link.channel === "sms") {
    const stops = phoneNumber === null ? [] : await tx.suppressions.list(link.project.id, "sms", phoneNumber);
    return { address: phoneNumber, hasLeft: stops.length > 0, mayReturn: false };
  }
  return {
    address: email,
    hasLeft: unsubscribedAt !== null,
    mayReturn: (await findReturningPerson(tx, link)) !== null,
  };
}

/** Unsubscribes from the message's channel. Returns whether the same link can undo it. Throws NotFoundError. */
export async function unsubscribeByLink(tx: Transaction, token: string): Promise<boolean> {
  const link = await requireLink(tx, token);
  const { project, personId, requestId, channel } = link;
  await confirmSent(tx, project, requestId);
  if (channel === "sms") {
    const phoneNumber = (await tx.people.byId(project.id, personId))?.phoneNumber ?? null;
    if (phoneNumber !== null) await stopTexts(tx, project, phoneNumber);
    return false;
  }
  await unsubscribePerson(tx, project, personId, requestId);
  return (await findReturningPerson(tx, link)) !== null;
}

/**
 * Undoes the unsubscribe made through this link. Returns false after 30 days, because e-mails get forwarded. Throws
 * NotFoundError.
 */
export async function resubscribeByLink(tx: Transaction, token: string): Promise<boolean> {
  const link = await requireLink(tx, token);
  const person = link.channel === "sms" ? null : await findReturningPerson(tx, link);
  if (person === null) return false;
  await resubscribePerson(tx, link.project, person);
  await resumeMember(tx, link.project, { ...person, unsubscribedAt: null }, "email");
  return true;
}

async function findReturningPerson(
  tx: Transaction,
  { project, personId, requestId }: SurveyLink,
): Promise<PersonRow | null> {
  const person = await tx.people.byId(project.id, personId);
  if (person === null || person.unsubscribedAt === null) return person;
  const isTheirs = person.unsubscribedBy === requestId && tx.now - person.unsubscribedAt <= UNDO_SECONDS;
  return isTheirs ? person : null;
}

/**
 * Stops mail to an erased person's address, whoever owns it now or later. Only the address's hash is known, so this
 * searches all people for the owner, in short steps.
 */
export async function leaveByErasedLink(store: Store, { project, channel, addressHash }: ErasedLink): Promise<void> {
  const only = { project: project.id };
  const isNew = await store.write(
    (tx) => tx.suppressions.addHash(project.id, channel, addressHash, { reason: LEFT[channel], at: tx.now }),
    only,
  );
  if (!isNew || channel === "sms") return;
  for await (const people of peoplePages(store, project)) {
    const owner = await store.read(async (tx) => {
      for (const person of people)
        if (person.email !== null && (await tx.suppressions.hash(channel, person.email)) === addressHash) return person;
      return null;
    });
    if (owner !== null) return void (await store.write((tx) => unsubscribePerson(tx, project, owner.id), only));
  }
}

const LEFT = { email: "unsubscribe", sms: "stop" } as const;

async function requireLink(tx: Transaction, token: string): Promise<SurveyLink> {
  const link = await tx.requests.byUnsubscribeToken(token);
  if (link === null) throw new NotFoundError("no such survey");
  return link;
}
