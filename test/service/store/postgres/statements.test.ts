/** Checks every SQL text in the source against the rules of distributed databases. */
import { expect, test } from "vitest";
import { COUNTED_LISTS, countingColumns } from "../../../../src/service/sql/lists/counted-lists.ts";
import { DISTRIBUTED } from "../../../../src/service/store/postgres/distribute.ts";
import { createStatements } from "../../../../src/service/store/postgres/statements.ts";
import { parseSource, readSources, type SyntaxNode, walk } from "../../../helpers/source-code.ts";

/** Small tables that every node has a copy of, and system tables. */
const SMALL =
  /^(?:projects|api_keys|autopilot_configurations|schema_versions|store_(?:marks|secrets)|processes|delivery_state|upkeep_state|text_parts|delivery_reports|erased_surveys|pg_\w+|\w+\()/;

/** Statements that don't name a project, by the reason why. */
const NAMED: readonly string[] = [
  // The condition comes from elsewhere and begins with the project.
  "INSERT INTO erased_surveys (token, project_id, request_id, channel) SELECT token",
  "UPDATE messages … WHERE ${where} AND state = 'cancelled'",
  "memberships m LEFT … WHERE ${whereSql(where)}",
  "people WHERE ${whereSql(slice.where)}",
  "people WHERE ${whereSql(where)}",
  "responses r WHERE ${whereSql(where)}",
  "messages WHERE ${whereSql(where)}",
  "messages q ${person}WHERE ${whereSql(where)}",
  "messages q … WHERE ${whereSql(where)}",
  "unscheduled_surveys u WHERE ${whereSql(where)}",
  "unscheduled_surveys u … WHERE ${whereSql(where)}",
  // Looks up a token or a setting to find its project.
  "erased_links l … WHERE l.hash = ?",
  "project_settings s … WHERE s.name = ? AND s.value = ?",
  "responses r … WHERE r.token = ?",
  "survey_links l … WHERE l.token = ?",
  "shares s … WHERE s.token_hash = ?",
  "messages WHERE bounce_token = ?",
  "messages WHERE message_id = ?",
  "messages q … WHERE q.${column} = ?",
  // Finds projects that have work to do.
  "(SELECT p.limited_until, (SELECT q.due_at FROM messages q WHERE q.project_id = s",
  "long_changes ${where}",
  "messages q WHERE ${claimedByOthers(living)}",
  "project_state s … WHERE ${mayLeave(queue)}${limited} AND EXISTS (SELECT 1 FROM m",
  "webhooks WHERE disabled_at IS NULL",
  "webhooks w JOIN projects p ON p.id = w.project_id ${where}ORDER BY w.project_id,",
  // Covers all projects: operators' queries, claims of dead processes, expired rows.
  "delivery_attempts WHERE outcome <> 'bounced' AND at < ?",
  "messages WHERE person_id IS NULL AND channel = 'reply' AND created_at < ?",
  "unscheduled_surveys WHERE at < ?",
  'projects p … WHERE c.n > 0${project === null ? "" : " AND p.id = ?"}',
  "project_state",
  "project_state WHERE project_id <> ${NO_PROJECT}",
  // Finds projects that are being removed or were removed.
  "operation_log",
  "operation_log WHERE operation = 'project.remove' AND project = ?",
  "projects WHERE id NOT IN (SELECT project_id FROM long_changes WHERE kind = 'remo",
  "projects WHERE name = ? AND id NOT IN (SELECT project_id FROM long_changes WHERE",
  // Runs only when counts are built or checked.
  "( SELECT project_id, list FROM (SELECT project_id, span, list, number, n, promot",
  "row_counts WHERE span = 1 GROUP BY project_id, list, number / ${BLOCK_DAYS}",
  // Digests are few.
  'messages m WHERE m.project_id = d.project_id AND m.digest_id = d.id) AS "sentAt"',
];

const isText = (node: SyntaxNode): boolean => node.type === "Literal" || node.type === "TemplateLiteral";

/** Replaces constants by their values. Other expressions stay as `${…}`. */
function readTexts(): readonly string[] {
  const sources = ["sql", "domain", "store/sql", "store/postgres"]
    .flatMap((room) => [...readSources(`src/service/${room}`)])
    .filter(([file]) => !file.includes("/schema/"));
  const constants = new Map<string, () => string | null>();
  const texts: (() => string | null)[] = [];
  const beginnings = new Set<SyntaxNode>();
  for (const [file, source] of sources) {
    const render = (node: SyntaxNode | undefined): string | null => {
      if (node === undefined) return "";
      if (typeof node["value"] === "string") return node["value"];
      const name = String(node["name"]);
      if (node.type === "Identifier") return (constants.get(`${file} ${name}`) ?? constants.get(name))?.() ?? null;
      if (node.type !== "TemplateLiteral") return null;
      const inner = node["expressions"] as readonly SyntaxNode[];
      const parts = node["quasis"] as readonly { readonly value: { readonly cooked: string } }[];
      const written = inner.map(
        (one) => render(one) ?? `\${${source.slice(one["start"] as number, one["end"] as number)}}`,
      );
      return parts.map(({ value }, at) => value.cooked + (written[at] ?? "")).join("");
    };
    walk(parseSource(source), (node) => {
      const { name } = (node["id"] ?? {}) as { readonly name?: string };
      if (node.type === "VariableDeclarator" && /^[A-Z_]+$/.test(name ?? "")) {
        const init = node["init"] as SyntaxNode;
        for (const key of [`${file} ${name}`, name ?? ""]) constants.set(key, () => render(init));
        beginnings.add(init);
      }
      if (isText(node) && !beginnings.has(node)) texts.push(() => render(node));
      const [whole] = (node["arguments"] ?? []) as readonly SyntaxNode[];
      if (whole?.type === "Identifier") texts.push(() => render(whole));
    });
  }
  return texts.map((read) => read()?.replaceAll(/\s+/g, " ").trim() ?? "");
}

const STATEMENT = /^(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b/;
const TABLE = /\b(?:FROM|JOIN|UPDATE) ([a-z]\w*\(?)(?: (?:AS )?([a-z]\w*))?/g;

/** True if every large table is selected by its project, and one of them by a given project. */
function isOfOneProject(text: string): boolean {
  const grown = [...text.matchAll(TABLE)].filter(([, table = ""]) => !SMALL.test(table));
  const areNamed = grown.every(({ 2: alias, index }) =>
    // Ignore selected and inserted columns.
    new RegExp(`${alias === undefined ? "" : `\\b${alias}\\.`}\\bproject_id\\b`).test(text.slice(index)),
  );
  return areNamed && (grown.length === 0 || /^INSERT|\bproject_id (?:=|IN) (?:\?|\$\d|\(|CAST)/.test(text));
}

const inShort = (text: string): string =>
  text
    .replace(/^SELECT .*? FROM /, "")
    .replace(/ (?:ORDER BY|JOIN|SET|LIMIT) .*? WHERE /, " … WHERE ")
    .replace(/ (?:ORDER BY|LIMIT) .*$/, "")
    .slice(0, 80);

const texts = readTexts();
const statements = texts.filter((text) => STATEMENT.test(text));

test("when a statement reads or changes rows that grow, then it names their project, but for those that look for it", () => {
  // Fails if the parser stops finding statements.
  expect(statements.length).toBeGreaterThan(200);
  const found = statements.filter((text) => !isOfOneProject(text)).map(inShort);
  expect([...new Set(found)].toSorted()).toEqual(NAMED.toSorted());
});

/** Removes subqueries, whose conditions don't limit the statement's own rows. */
function withoutParentheses(text: string): string {
  const shorter = text.replaceAll(/\([^()]*\)/g, "");
  return shorter === text ? text : withoutParentheses(shorter);
}

test("rows of distributed tables are changed, deleted and locked by one project", () => {
  const changes = /^(?:UPDATE|DELETE FROM|INSERT INTO \w+ .* FROM) (\w+|\${table})/;
  const found = new Set(
    texts.filter((text) => {
      const [, table = ""] = changes.exec(text) ?? [];
      const isWrite = DISTRIBUTED.includes(table) || table === "${table}" || text.includes("FOR NO KEY UPDATE");
      return isWrite && !/ WHERE (?:.* AND )?project_id = (?:\?|CAST)/.test(withoutParentheses(text));
    }),
  );
  expect([...found].toSorted()).toEqual([
    "DELETE FROM ${table}",
    // The type `OfProject` makes sure that these conditions begin with the project.
    "INSERT INTO erased_surveys (token, project_id, request_id, channel) SELECT token, project_id, id, channel FROM messages WHERE ${where} AND claims > 0 AND token IS NOT NULL ON CONFLICT DO NOTHING",
    "UPDATE ${table} SET ${set} WHERE ${where}",
    "UPDATE messages SET claimer = NULL WHERE ${where} AND state = 'cancelled'",
  ]);
});

test("rows of counted lists are written by the functions that count them", () => {
  const parents = new Set(["webhook_events", "digests", "trends"]);
  const found = statements.filter((text) => {
    const [, verb, table = ""] = /^(INSERT INTO|DELETE FROM|UPDATE) (\w+)/.exec(text) ?? [];
    const lists = COUNTED_LISTS.filter((list) => list.table === table);
    if (verb !== "UPDATE") return lists.length > 0 || (verb === "DELETE FROM" && parents.has(table));
    const [, set = ""] = / SET (.*?)(?: WHERE |$)/.exec(text) ?? [];
    return lists.flatMap(countingColumns).some((column) => new RegExp(`(?:^|, )${column} =`).test(set));
  });
  expect(found).toEqual([]);
});

test("when statements are prepared, then their names are short enough for a server, the same in each process, and differ", () => {
  const different = [...new Set(statements)];
  const [one, other] = [createStatements(), createStatements()];
  const names = different.map((text) => one(text).name);
  expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(63);
  expect(different.map((text) => other(text).name)).toEqual(names);
  expect(new Set(names).size).toBe(new Set(different.map((text) => one(text).text)).size);
});

test("when a pooler gives each transaction another connection, then nothing of a session is missed", () => {
  const ofSessions =
    /\b(?:LISTEN|NOTIFY|nextval|pg_advisory_(?!xact)\w+|CREATE (?:TEMP|SEQUENCE|TRIGGER|FUNCTION|EXTENSION|TYPE))\b|(?:^|; ?)SET (?!LOCAL)/;
  expect(texts.filter((text) => ofSessions.test(text))).toEqual([]);
});
