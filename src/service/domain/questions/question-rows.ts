import { insertSql, readRow, selectList } from "../../sql/columns.ts";
import { Rows } from "../../sql/rows.ts";
import type { Locale } from "../../../contract/locales.ts";
import type { NumberSpan } from "../../../contract/questions/questions.ts";
import type { Choice, QuestionType } from "../../../contract/resources.ts";

export interface QuestionTranslation {
  readonly text: string;
  readonly choices: Readonly<Record<string, string>>;
}

export interface Question {
  readonly id: string;
  readonly type: QuestionType;
  readonly text: string;
  readonly choices: readonly Choice[];
  /** Number of the last choice that was added, so that ids aren't reused. */
  readonly lastChoice: number;
  readonly scale: NumberSpan | null;
  /** The scores after which the question is asked; null for all. */
  readonly to: readonly NumberSpan[] | null;
  readonly texts: Readonly<Partial<Record<Locale, QuestionTranslation>>>;
  /** Starts at 1; null if the question is retired. */
  readonly position: number | null;
  readonly retiredAt: number | null;
}

const COLUMNS: Readonly<Record<keyof Question, string>> = {
  id: "id",
  type: "type",
  text: "text",
  choices: "choices",
  lastChoice: "last_choice",
  scale: "scale",
  to: "scores",
  texts: "texts",
  position: "position",
  retiredAt: "retired_at",
};
const JSON_COLUMNS = ["choices", "scale", "to", "texts"] as const;

const LIST = `SELECT ${selectList(COLUMNS)} FROM questions WHERE project_id = ?
  ORDER BY retired_at IS NOT NULL, position, retired_at, id`;
const SAVE = `${insertSql("questions", ["project_id", ...Object.values(COLUMNS)])} ON CONFLICT (project_id, id) DO UPDATE SET
  ${Object.values(COLUMNS)
    .slice(1)
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}`;

export class QuestionRows extends Rows {
  async list(project: number): Promise<readonly Question[]> {
    const rows = await this.database.all(LIST, [project]);
    return rows.map((row) => readRow<Question>(row, { json: JSON_COLUMNS }));
  }

  async save(
    project: number,
    { id, type, text, choices, lastChoice, scale, to, texts, position, retiredAt }: Question,
  ): Promise<void> {
    const json = [JSON.stringify(choices), lastChoice, orNull(scale), orNull(to), JSON.stringify(texts)];
    this.database.send(SAVE, [project, id, type, text, ...json, position, retiredAt]);
  }
}

function orNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
