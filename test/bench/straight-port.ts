/**
 * In a separate process: this project's rows and rules on PostgreSQL, ported naively, with one transaction per request
 * on a pooled connection and sequential statements. Argument: the database's URL.
 */
import type { Transaction } from "../../src/service/domain/ports.ts";
import { createServer, type ServerResponse } from "node:http";
import { Pool } from "pg";
import { systemClock } from "../../src/runtime/clock.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import type { SendInput } from "../../src/service/domain/inputs.ts";
import { sendPerson } from "../../src/service/domain/people/people.ts";
import { addProject } from "../../src/service/domain/projects/projects.ts";
import type { Database, SqlRow, SqlValue } from "../../src/service/sql/database.ts";
import { writeTime } from "../../src/service/domain/write-time.ts";
import { CountChanges } from "../../src/service/sql/lists/count-changes.ts";
import { ProjectStates, PROJECT_STATE } from "../../src/service/sql/project-states.ts";
import { createStoreRows } from "../../src/service/store/sql/store-rows.ts";
import { openPostgresStore } from "../../src/service/store/postgres/open-postgres-store.ts";
import { createStatements } from "../../src/service/store/postgres/statements.ts";

const [url = ""] = process.argv.slice(2);
const store = await openPostgresStore({ url, clock: systemClock });
const project = await store.write((tx) => addProject(tx, "default"), { project: "all" });
await store.close();

const pool = new Pool({ connectionString: url, max: 10 });
const statementOf = createStatements();

/** The driver returns numbers as text. */
const toNumbers = (row: Record<string, unknown>): SqlRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "string" && /^\d+$/.test(value) ? Number(value) : (value as SqlValue),
    ]),
  );

async function inTransaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  const sent: Promise<unknown>[] = [];
  const query = async (sql: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> => {
    // Sequential, as in most programs.
    await Promise.all(sent);
    const { rows } = await client.query<Record<string, unknown>>({ ...statementOf(sql), values: [...values] });
    return rows.map(toNumbers);
  };
  const states = new ProjectStates(
    async (id) => (await query(`${PROJECT_STATE} WHERE project_id = ? FOR NO KEY UPDATE`, [id]))[0] ?? null,
  );
  const counts = new CountChanges();
  const database: Database = {
    writing: true,
    counts,
    all: query,
    first: async (sql, values) => (await query(sql, values))[0] ?? null,
    run: async (sql, values) => (await query(sql, values)).length,
    returning: query,
    send: (sql, values) => void sent.push(query(sql, values)),
    state: (id) => states.of(id),
  };
  const rows = createStoreRows(database, {
    clock: systemClock,
    random: systemRandom,
    appUrl: () => "",
    onWebhookEvent: () => undefined,
    isNoted: { value: false },
  });
  try {
    await client.query("BEGIN");
    await states.of(project.id);
    const time = writeTime(systemClock.now(), 0);
    const result = await work(rows.begin(time));
    for (const { sql, values } of [...counts.take(), ...states.end(time.updatedAt)]) await query(sql, values);
    await client.query("COMMIT");
    return result;
  } finally {
    client.release();
  }
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    const { email, name, delay, properties } = JSON.parse(body) as {
      email: string;
      name: string;
      delay: number;
      properties: Record<string, string>;
    };
    const unset = { phoneNumber: null, lastSentAt: null, emailUpdate: null, phoneNumberUpdate: null } as const;
    const wish = { channel: "email", delaySeconds: delay, send: true, replaceProperties: false } as const;
    const input = { ...unset, ...wish, email, name, properties };
    void answer(input, response);
  });
});

async function answer(input: SendInput, response: ServerResponse): Promise<void> {
  const { person } = await inTransaction((tx) => sendPerson(tx, project, input));
  const text = JSON.stringify(person);
  response.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { readonly port: number };
  console.log(`listening on http://127.0.0.1:${port}`);
});
