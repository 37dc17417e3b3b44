/** A project's default values of special properties (section 2). */
import { EMAIL_SUBJECT_MAX, INTRO_MESSAGE_MAX, QUESTION_MAX } from "../../../contract/limits.ts";
import type { Locale } from "../../../contract/locales.ts";
import { isInSpan, readScoreSpan, type ScoreSpan } from "../../../contract/text/score-span.ts";
import { textFault } from "../../../contract/text/storable.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";

interface TextField {
  readonly max: number;
  readonly hasLines?: boolean;
  readonly isLink?: boolean;
  /** True if the text is shown after the score, so that it can depend on it. */
  readonly isAfterScore?: boolean;
}

const LENGTH_MAX = 2000;

const TEXT_FIELDS = {
  product_name: { max: LENGTH_MAX },
  question: { max: QUESTION_MAX },
  subject: { max: EMAIL_SUBJECT_MAX },
  intro: { max: INTRO_MESSAGE_MAX, hasLines: true },
  thank_you: { max: LENGTH_MAX, hasLines: true, isAfterScore: true },
  thank_you_link: { max: LENGTH_MAX, isAfterScore: true, isLink: true },
  thank_you_link_text: { max: LENGTH_MAX, isAfterScore: true },
  comment_question: { max: LENGTH_MAX, hasLines: true, isAfterScore: true },
} as const satisfies Readonly<Record<string, TextField>>;

export type TextName = keyof typeof TEXT_FIELDS;
export const TEXT_NAMES = Object.keys(TEXT_FIELDS) as readonly TextName[];

export interface TextScope {
  /** Null means all languages. */
  readonly locale: Locale | null;
  /** As formatted by `formatScoreSpan`; null means all scores. */
  readonly score: string | null;
}

export type ProjectTexts = TextScope & { readonly [Name in TextName]: string | null };

/** Null or an empty string removes a text. */
export type TextChange = { readonly [Name in TextName]?: string | null };
export type WantedTexts = Partial<TextScope> & TextChange;

const SETTING = "texts";

export function toTexts(stored: ReadonlyMap<string, string>): readonly ProjectTexts[] {
  // Texts stored by an older version lack some fields.
  return (JSON.parse(stored.get(SETTING) ?? "[]") as (TextScope & TextChange)[]).map(toProjectTexts);
}

export async function readTexts(tx: Transaction, project: Project): Promise<readonly ProjectTexts[]> {
  return toTexts(await tx.projects.settings(project.id));
}

export async function changeTexts(
  tx: Transaction,
  project: Project,
  scope: TextScope,
  change: TextChange,
): Promise<readonly ProjectTexts[]> {
  const old = await readTexts(tx, project);
  const known = old.find((texts) => isSameScope(texts, scope)) ?? scope;
  const others = old.filter((texts) => !isSameScope(texts, scope));
  const changed = toProjectTexts({ ...known, ...change });
  checkTexts(changed, others);
  return storeTexts(tx, project, [...others, changed]);
}

export async function addTexts(tx: Transaction, project: Project, given: WantedTexts): Promise<void> {
  const old = await readTexts(tx, project);
  const added = toProjectTexts({ locale: null, score: null, ...given });
  checkTexts(added, old);
  await storeTexts(tx, project, [...old, added]);
}

export async function storeTexts(
  tx: Transaction,
  project: Project,
  all: readonly ProjectTexts[],
): Promise<readonly ProjectTexts[]> {
  // Sorted, so that equal texts make equal settings.
  const kept = all.filter(hasTexts).toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  await tx.projects.setSetting(project.id, SETTING, kept.length === 0 ? null : JSON.stringify(kept));
  return kept;
}

function sortKey({ locale, score }: TextScope): string {
  return `${locale ?? ""} ${score === null ? "" : String(toSpan(score).from).padStart(2, "0")}`;
}

function isSameScope(one: TextScope, other: TextScope): boolean {
  return one.locale === other.locale && one.score === other.score;
}

function toProjectTexts({ locale, score, ...texts }: TextScope & TextChange): ProjectTexts {
  const values = TEXT_NAMES.map((name) => [name, texts[name]?.trim() || null]);
  return { locale, score, ...Object.fromEntries(values) } as ProjectTexts;
}

function hasTexts(texts: ProjectTexts): boolean {
  return TEXT_NAMES.some((name) => texts[name] !== null);
}

function checkTexts(texts: ProjectTexts, others: readonly ProjectTexts[]): void {
  const problems = TEXT_NAMES.flatMap((name) => {
    const problem = texts[name] === null ? null : textProblem(name, texts[name], texts.score);
    return problem === null ? [] : [[name, [problem]] as const];
  });
  if (problems.length > 0) throw new InvalidError(Object.fromEntries(problems));
  const near = others.find((other) => other.locale === texts.locale && overlap(other, texts));
  if (near === undefined) return;
  if (near.score === null) throw new InvalidError({ locale: ["has other texts for all scores"] });
  throw new InvalidError({ score: [`overlaps ${near.score}, which has texts of its own`] });
}

/** What is wrong with a text for these scores, as the end of a sentence; null if nothing is. */
export function textProblem(name: TextName, given: string, score: string | null): string | null {
  const { isLink = false, isAfterScore = false, ...form }: TextField = TEXT_FIELDS[name];
  const text = given.trim();
  if (score !== null && !isAfterScore) return "cannot depend on the score: it is shown before there is one";
  const fault = textFault(text, { ...form, mayBeBlank: true });
  if (fault !== null) return fault;
  const [unknown] = name === "question" ? (/\{(?!product\})\w*\}/.exec(text) ?? []) : [];
  if (unknown !== undefined) return `has ${unknown}, and only {product} is replaced`;
  return isLink && text !== "" && !isWebAddress(text) ? "is not a URL such as https://example.com" : null;
}

/** Links with other schemes could run code in the browser. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function toSpan(score: string): ScoreSpan {
  return readScoreSpan(score) ?? { from: 0, to: -1 };
}

function overlap(one: TextScope, other: TextScope): boolean {
  if (one.score === null || other.score === null) return one.score === other.score;
  const [left, right] = [toSpan(one.score), toSpan(other.score)];
  return left.from <= right.to && right.from <= left.to;
}

/** Null if no text fits. A text for the language takes precedence over one for the score. */
export function findText(
  all: readonly ProjectTexts[],
  name: TextName,
  { locale, score }: { readonly locale: Locale; readonly score: number | null },
): string | null {
  const fitting = all.filter(
    (texts) =>
      texts[name] !== null &&
      (texts.locale === null || texts.locale === locale) &&
      (texts.score === null || (score !== null && isInSpan(toSpan(texts.score), score))),
  );
  return fitting.toSorted((one, other) => rank(other) - rank(one))[0]?.[name] ?? null;
}

function rank({ locale, score }: TextScope): number {
  return (locale === null ? 0 : 2) + (score === null ? 0 : 1);
}
