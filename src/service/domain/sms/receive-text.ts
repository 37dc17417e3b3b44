/** A text message that comes in: an answer, a comment, or the wish to get no more. */
import { TEXT_BYTES_MAX } from "../../../contract/limits.ts";
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import { answerSurvey, changeAnswer, linkState, type Visit, visitSurvey } from "../answers/answers.ts";
import { noteEvidence } from "../delivery/deliveries.ts";
import type { Project } from "../inputs.ts";
import { resumeTexts, stopTexts } from "../people/suppressions.ts";
import type { TextedSurvey, TextPart, Transaction, ReplyKind } from "../ports.ts";
import { resumeMember } from "../surveys/autopilot.ts";
import { type AnswerMeaning, isKeyword, type KeywordMeaning, readTextMeaning } from "./read-text.ts";

export interface IncomingText {
  /** By what way it came. */
  readonly source: string;
  /** Tells it from all others of its source; null where the gateway gives none. */
  readonly id: string | null;
  /** Section 2: `+`, country code, number. */
  readonly from: string;
  /** The number that was texted to, digits alone; null where that is not known. */
  readonly to: string | null;
  readonly text: string;
  readonly part: TextPart | null;
}

/** `unmatched`: about no survey of ours; `ignored`: nothing to say to it; `part`: the rest of it has not come yet. */
export const TEXT_OUTCOMES = [
  "score",
  "comment",
  "stop",
  "start",
  "help",
  "asked-again",
  "ignored",
  "unmatched",
  "part",
  "repeated",
] as const;
export type TextOutcome = (typeof TEXT_OUTCOMES)[number];

export interface TextRules {
  /** True when there is a way to text back. */
  readonly replies: boolean;
  /** The provider answers STOP, START and HELP by itself, and replies of ours would be the second ones. */
  readonly isAnsweredByProvider: boolean;
  /** The time after the first answer in which it may be changed. */
  readonly windowSeconds: number;
}

/** The time after a survey or its reminder in which a text from its number is about it. */
const SURVEY_SECONDS = 14 * 86_400;
/** A comment that comes in two texts. */
const SAME_BREATH_SECONDS = 600;

/** Records a text once, however often it comes. It is about the newest survey texted to its number within 14 days. */
export async function receiveText(tx: Transaction, incoming: IncomingText, rules: TextRules): Promise<TextOutcome> {
  const { source, id, from, part } = incoming;
  if (id !== null && !(await tx.reports.note(`sms ${source}`, id))) return "repeated";
  const text = part === null ? incoming.text : await tx.texts.joinPart(from, part, incoming.text);
  if (text === null) return "part";
  const surveys = await tx.texts.surveysTo(from, tx.now - SURVEY_SECONDS);
  const survey = surveys.find((one) => isAbout(one, incoming)) ?? null;
  // Of several that were texted, any may be the one that arrived.
  if (survey !== null && surveys.length === 1) await noteEvidence(tx, survey.project, survey.requestId);
  const meaning = readTextMeaning(text);
  if (isKeyword(meaning)) return obey(tx, { from, survey }, meaning, rules);
  if (survey === null) return "unmatched";
  return answer(tx, survey, meaning, rules);
}

/** A text about a survey must have gone to the survey's own number, if that is known. */
function isAbout({ from }: TextedSurvey, { to }: IncomingText): boolean {
  const own = from === null || !/^\+?\d+$/.test(from) ? null : from.replace("+", "");
  return own === null || to === null || own === to;
}

interface Sender {
  readonly from: string;
  readonly survey: TextedSurvey | null;
}

async function obey(
  tx: Transaction,
  { from, survey }: Sender,
  { kind, isCommon }: KeywordMeaning,
  { isAnsweredByProvider, replies }: TextRules,
): Promise<TextOutcome> {
  const isSilent = survey === null || !replies || (isAnsweredByProvider && isCommon);
  if (kind === "help") {
    if (isSilent) return survey === null ? "unmatched" : "help";
    const lastAt = await tx.texts.lastReplyAt(survey, "help");
    if (lastAt === null || tx.now - lastAt >= DAY_SECONDS) await reply(tx, survey, "help");
    return "help";
  }
  let isNew = false;
  for (const project of await projectsOf(tx, from)) {
    const isChanged = kind === "stop" ? await stopTexts(tx, project, from) : await bringBack(tx, project, from);
    isNew = isChanged || isNew;
  }
  // A text on its way to somebody who wants no more is not sent, but for the word that says so.
  if (survey !== null && isNew) await tx.texts.dropReplies(survey);
  if (!isSilent && isNew) await reply(tx, survey, kind === "stop" ? "stopped" : "started");
  return kind;
}

/** Those that know the number; all of them where none does, since somebody there may come to know it. */
async function projectsOf(tx: Transaction, phoneNumber: string): Promise<readonly Project[]> {
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

interface Asked {
  readonly survey: TextedSurvey;
  readonly rules: TextRules;
}

/** A score, or words: the comment that was asked for. Words without a score before them are asked for one, once. */
async function answer(
  tx: Transaction,
  survey: TextedSurvey,
  meaning: AnswerMeaning,
  rules: TextRules,
): Promise<TextOutcome> {
  const { windowSeconds } = rules;
  const visit = await visitSurvey(tx, survey.token);
  if (visit === null || linkState(visit, tx.now, windowSeconds) !== "open") return "ignored";
  if (meaning.kind === "words") return recordWords(tx, { survey, visit, rules }, meaning.text);
  const { score, comment } = meaning;
  if (comment !== null && Buffer.byteLength(comment) > TEXT_BYTES_MAX) return "ignored";
  const given = { score, by: "text" as const, ...(comment === null ? {} : { comment }) };
  await answerSurvey(tx, survey.token, given, windowSeconds);
  const hasComment = comment !== null || (visit.answer?.comment ?? null) !== null;
  await replyOnce(tx, { survey, rules }, hasComment ? "thanks" : "ask-comment", score);
  return "score";
}

async function recordWords(
  tx: Transaction,
  { survey, visit: { answer: known }, rules }: Asked & { readonly visit: Visit },
  text: string,
): Promise<TextOutcome> {
  if (text === "") return "ignored";
  if (known === null) return (await replyOnce(tx, { survey, rules }, "ask-again", null)) ? "asked-again" : "ignored";
  if (known.comment !== null && tx.now - known.updatedAt > SAME_BREATH_SECONDS) return "ignored";
  const comment = known.comment === null ? text : `${known.comment}\n${text}`;
  if (Buffer.byteLength(comment) > TEXT_BYTES_MAX) return "ignored";
  await changeAnswer(tx, survey.project, known, { score: known.score, comment });
  await replyOnce(tx, { survey, rules }, "thanks", known.score);
  return "comment";
}

/** The same reply is never sent twice to one survey, whatever the person texts. */
async function replyOnce(
  tx: Transaction,
  { survey, rules }: Asked,
  kind: ReplyKind,
  score: number | null,
): Promise<boolean> {
  if (!rules.replies || (await tx.texts.lastReplyAt(survey, kind)) !== null) return false;
  await reply(tx, survey, kind, score);
  return true;
}

async function reply(
  tx: Transaction,
  survey: TextedSurvey,
  kind: ReplyKind,
  score: number | null = null,
): Promise<void> {
  await tx.texts.addReply(survey, { kind, score });
}
