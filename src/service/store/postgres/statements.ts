import { createHash } from "node:crypto";

export interface Statement {
  /** The name of the prepared statement: the same in every process, at most 63 bytes. */
  readonly name: string;
  readonly text: string;
}

const NAME_LENGTH = 20;

/** Caches translations. There are few different statements, because values are always parameters. */
export function createStatements(): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    const found = known.get(sql);
    if (found !== undefined) return found;
    const text = translate(sql);
    const name = `surveyctl_${createHash("sha256").update(text).digest("base64url").slice(0, NAME_LENGTH)}`;
    const statement = { name, text };
    known.set(sql, statement);
    return statement;
  };
}

/** `?` stands for a parameter, and `json_quote` renders text or null as JSON. No literal of ours contains either. */
function translate(sql: string): string {
  let count = 0;
  return sql
    .replaceAll("?", () => `$${(count += 1)}`)
    .replaceAll(/json_quote\(([\w.]+)\)/g, "coalesce(to_json($1)::text, 'null')");
}
