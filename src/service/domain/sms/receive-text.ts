import { TEXT_BYTES_MAX } from "../../../contract/limits.ts";
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import { answerSurvey, changeAnswer, linkState, type Visit, visitSurvey } from "../answers/answers.ts";
import { confirmSent } from "../delivery/deliveries.ts";
import type { Project } from "../inputs.ts";
import { resumeTexts, stopTexts } from "../people/suppressions.ts";
import type { ReplyKind, ResponseRow, TextedSurvey, TextPart, Transaction } from "../ports.ts";
import { resumeMember } from "../surveys/autopilot/autopilot.ts";
import { readSpecialProperties } from "../surveys/special-properties.ts";
import { multiLine } from "../texts/plain-text.ts";
import { withoutOurWords } from "./our-words.ts";
import { type AnswerMeaning, isKeyword, readTextMeaning } from "./read-text.ts";
import type { KeywordMeaning, TextContext } from "./stop-wish.ts";

export interface IncomingText {
  readonly source: string;
  readonly id: string | null;
  readonly from: string;
  /** The number that was texted, digits only; null if unknown. */
  readonly to: string | null;
  readonly text: string;
  readonly part: TextPart | null;
}

/** `unclear`: might be an opt-out; `unmatched`: not about one of our surveys; `part`: incomplete. */
export const TEXT_OUTCOMES = [
  "score",
  "comment",
  "stop",
  "start",
  "help",
  "asked-again",
  "unclear",
  "ignored",
  "unmatched",
  "part",
  "repeated",
] as const;
export type TextOutcome = (typeof TEXT_OUTCOMES)[number];

export interface TextRules {
  readonly replies: boolean;
  /** The provider replies to STOP, START and HELP itself, so we don't. */
  readonly isAnsweredByProvider: boolean;
  readonly windowSeconds: number;
}

const SURVEY_SECONDS = 14 * 86_400;

/** Records a text message once, and matches it to the newest survey sent to that number in the last 14 days. */
export async function receiveText(tx: Transaction, incoming: IncomingText, rules: TextRules): Promise<TextOutcome> {
  const { source, id, from, part } = incoming;
  if (id !== null && !(await tx.reports.note(`sms ${source}`, id))) return "repeated";
  const text = part === null ? incoming.text : await tx.texts.joinPart(from, part, incoming.text);
  if (text === null) return "part";
  const surveys = await tx.texts.surveysTo(from, tx.now - SURVEY_SECONDS);
  const survey = surveys.find((one) => isAbout(one, incoming)) ?? null;
  // If there are several surveys, we can't know which one arrived.
  if (survey !== null && surveys.length === 1) await confirmSent(tx, survey.project, survey.requestId);
  const ownWords = withoutOurWords(multiLine(text), survey === null ? [] : await tx.texts.sentAbout(survey));
  const visit = survey === null ? null : await openVisit(tx, survey, rules);
  const meaning = ownWords === null ? null : readTextMeaning(ownWords, textContext(visit));
  if (meaning !== null && isKeyword(meaning)) return obey(tx, { from, survey }, meaning, rules);
  if (survey === null) return "unmatched";
  return visit === null || meaning === null ? "ignored" : answer(tx, { survey, visit, rules }, meaning);
}

async function openVisit(tx: Transaction, { token }: TextedSurvey, rules: TextRules): Promise<Visit | null> {
  const visit = await visitSurvey(tx, token);
  return visit !== null && linkState(visit, tx.now, rules.windowSeconds) === "open" ? visit : null;
}

function textContext(visit: Visit | null): TextContext {
  if (visit === null) return { asked: null, locale: null };
  const { locale } = readSpecialProperties(visit.survey.properties);
  return { asked: visit.answer === null ? "score" : visit.answer.comment === null ? "comment" : null, locale };
}

/** A message about a survey must be sent to the number that the survey came from, if that is known. */
function isAbout({ from }: TextedSurvey, { to }: IncomingText): boolean {
  const own = from === null || !/^\+?\d+$/.test(from) ? null : from.replace("+", "");
  return own === null || to === null || own === to;
}

async function obey(
  tx: Transaction,
  { from, survey }: { readonly from: string; readonly survey: TextedSurvey | null },
  { kind, isCommon }: KeywordMeaning,
  { isAnsweredByProvider, replies }: TextRules,
): Promise<TextOutcome> {
  const isSilent = survey === null || !replies || (isAnsweredByProvider && isCommon);
  if (kind === "help") {
    if (isSilent) return survey === null ? "unmatched" : "help";
    const lastAt = await tx.texts.lastReplyAt(survey, "help");
    if (lastAt === null || tx.now - lastAt >= DAY_SECONDS) await tx.texts.addReply(survey, { kind, score: null });
    return "help";
  }
  let isNew = false;
  for (const project of await projectsKnowing(tx, from)) {
    const isChanged = kind === "stop" ? await stopTexts(tx, project, from) : await bringBack(tx, project, from);
    isNew = isChanged || isNew;
  }
  // Cancels other pending replies: after STOP or START, only the confirmation is sent.
  if (survey !== null && isNew) await tx.texts.dropReplies(survey);
  if (!isSilent && isNew)
    await tx.texts.addReply(survey, { kind: kind === "stop" ? "stopped" : "started", score: null });
  return kind;
}

/** The projects that know the number. If none does, returns all, because any of them may get the number later. */
async function projectsKnowing(tx: Transaction, phoneNumber: string): Promise<readonly Project[]> {
  const all = await tx.projects.list();
  const known: Project[] = [];
  for (const project of all)
    if ((await tx.people.byPhone(project.id, phoneNumber)) !== null) known.push({ id: project.id, name: project.name });
  return known.length > 0 ? known : all;
}

async function bringBack(tx: Transaction, project: Project, phoneNumber: string): Promise<boolean> {
  if (!(await resumeTexts(tx, project, phoneNumber))) return false;
  const person = await tx.people.byPhone(project.id, phoneNumber);
  if (person !== null) await resumeMember(tx, project, person, "sms");
  return true;
}

type Words = AnswerMeaning & { readonly kind: "words" };

interface Conversation {
  readonly survey: TextedSurvey;
  readonly rules: TextRules;
}

async function answer(
  tx: Transaction,
  { visit: { answer: known }, ...conversation }: Conversation & { readonly visit: Visit },
  meaning: AnswerMeaning,
): Promise<TextOutcome> {
  if (meaning.kind === "words")
    return known === null ? askAgain(tx, conversation, meaning) : addComment(tx, conversation, known, meaning);
  const { score, comment, mayWantToStop } = meaning;
  if (comment !== null && Buffer.byteLength(comment) > TEXT_BYTES_MAX) return "ignored";
  const given = { score, by: "text" as const, ...(comment === null ? {} : { comment }) };
  await answerSurvey(tx, conversation.survey.token, given, conversation.rules.windowSeconds);
  const isWithout = comment === null && (known?.comment ?? null) === null;
  await replyOnce(tx, conversation, mayWantToStop ? "unclear" : isWithout ? "ask-comment" : "thanks", score);
  return mayWantToStop ? "unclear" : "score";
}

async function askAgain(
  tx: Transaction,
  conversation: Conversation,
  { text, mayWantToStop }: Words,
): Promise<TextOutcome> {
  if (text === "") return "ignored";
  const isNew = await replyOnce(tx, conversation, mayWantToStop ? "unclear" : "ask-again", null);
  return mayWantToStop ? "unclear" : isNew ? "asked-again" : "ignored";
}

function isKnown({ score, comment }: ResponseRow, text: string): boolean {
  const first = readTextMeaning(text);
  const isSame = first.kind === "score" && first.score === score && first.comment === comment;
  return isSame || (comment ?? "").split("\n").includes(text);
}

async function addComment(
  tx: Transaction,
  conversation: Conversation,
  known: ResponseRow,
  { text, mayWantToStop }: Words,
): Promise<TextOutcome> {
  const comment = known.comment === null ? text : `${known.comment}\n${text}`;
  if (text === "" || isKnown(known, text) || Buffer.byteLength(comment) > TEXT_BYTES_MAX) return "ignored";
  await changeAnswer(tx, conversation.survey.project, known, { score: known.score, comment });
  await replyOnce(tx, conversation, mayWantToStop ? "unclear" : "thanks", known.score);
  return mayWantToStop ? "unclear" : "comment";
}

/** Never sends the same reply twice for one survey. */
async function replyOnce(
  tx: Transaction,
  { survey, rules }: Conversation,
  kind: ReplyKind,
  score: number | null,
): Promise<boolean> {
  if (!rules.replies || (await tx.texts.lastReplyAt(survey, kind)) !== null) return false;
  await tx.texts.addReply(survey, { kind, score });
  return true;
}
