import type { Question, QuestionRows } from "../../../../domain/questions/rows.ts";
import type { Database, SqlRow } from "../../../../sql/database.ts";
import { insertSql } from "../../../../sql/columns.ts";

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

export function createQuestionRows(database: Database): QuestionRows {
  return {
    list: async (project) => (await database.all(LIST, [project])).map(toQuestion),
    save: async (project, { id, type, text, choices, lastChoice, scale, to, texts, position, retiredAt }) => {
      const json = [JSON.stringify(choices), lastChoice, orNull(scale), orNull(to), JSON.stringify(texts)];
      database.send(SAVE, [project, id, type, text, ...json, position, retiredAt]);
    },
  };
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
