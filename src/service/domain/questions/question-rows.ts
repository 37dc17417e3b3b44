import type { Database, SqlRow } from "../../sql/database.ts";
import { insertSql } from "../../sql/columns.ts";
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
  /** Number of the newest choice, so that ids aren't reused. */
  readonly lastChoice: number;
  readonly scale: NumberSpan | null;
  /** Scores that get the question; null for all. */
  readonly to: readonly NumberSpan[] | null;
  readonly texts: Readonly<Partial<Record<Locale, QuestionTranslation>>>;
  /** From 1; null if retired. */
  readonly position: number | null;
  readonly retiredAt: number | null;
}

const COLUMNS = [
  "project_id",
  "id",
  "type",
  "text",
  "choices",
  "last_choice",
  "scale",
  "scores",
  "texts",
  "position",
  "retired_at",
];

const LIST = "SELECT * FROM questions WHERE project_id = ? ORDER BY retired_at IS NOT NULL, position, retired_at, id";
const SAVE = `${insertSql("questions", COLUMNS)} ON CONFLICT (project_id, id) DO UPDATE SET ${COLUMNS.slice(2)
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")}`;

export class QuestionRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(project: number): Promise<readonly Question[]> {
    return (await this.#database.all(LIST, [project])).map(toQuestion);
  }

  async save(
    project: number,
    { id, type, text, choices, lastChoice, scale, to, texts, position, retiredAt }: Question,
  ): Promise<void> {
    const json = [JSON.stringify(choices), lastChoice, orNull(scale), orNull(to), JSON.stringify(texts)];
    this.#database.send(SAVE, [project, id, type, text, ...json, position, retiredAt]);
  }
}

function orNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function toQuestion(row: SqlRow): Question {
  const parsed = (name: string): unknown => JSON.parse(String(row[name] ?? "null"));
  return {
    id: String(row["id"]),
    type: String(row["type"]) as Question["type"],
    text: String(row["text"]),
    choices: parsed("choices") as Question["choices"],
    lastChoice: Number(row["last_choice"]),
    scale: parsed("scale") as Question["scale"],
    to: parsed("scores") as Question["to"],
    texts: parsed("texts") as Question["texts"],
    position: row["position"] as number | null,
    retiredAt: row["retired_at"] as number | null,
  };
}
