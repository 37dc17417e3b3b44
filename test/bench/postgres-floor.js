// Baselines on PostgreSQL: a bare server that stores each POST by one INSERT in a transaction and responds to each GET
// with 100 rows from one SELECT. Arguments: URL of its own database, URL of the service's; with `plain` the INSERT has
// no explicit transaction.
import { createServer } from "node:http";
import { Pool } from "pg";

// The same number of connections as a service.
const [own, served] = process.argv.slice(2, 4).map((connectionString) => new Pool({ connectionString, max: 10 }));
// The server can be stopped before this process.
for (const pool of [own, served]) pool.on("error", () => undefined);
const isPlain = process.argv[4] === "plain";
await own.query(`CREATE TABLE IF NOT EXISTS bare_people (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT, delay BIGINT, properties TEXT)`);
const INSERT = {
  name: "insert",
  text: "INSERT INTO bare_people (email, name, delay, properties) VALUES ($1, $2, $3, $4) RETURNING id",
};
const SELECT = {
  name: "select",
  text: `SELECT id, email, name, created_at, phone_number, last_sent_at, last_responded_at, next_survey_at
    FROM people WHERE project_id = 1 AND created_at >= $1 AND (created_at, id) > ($1, $2) ORDER BY created_at, id LIMIT 100`,
};

async function insert(values) {
  if (isPlain) return (await own.query({ ...INSERT, values })).rows[0].id;
  const client = await own.connect();
  try {
    await client.query("BEGIN");
    const { rows } = await client.query({ ...INSERT, values });
    await client.query("COMMIT");
    return rows[0].id;
  } finally {
    client.release();
  }
}

async function store(body) {
  const { email, name, delay, properties } = JSON.parse(body);
  const id = await insert([email, name, delay, JSON.stringify(properties)]);
  return [201, { id, email, name, properties }];
}

/** A link to a page names the last row's second and id. */
async function page(url) {
  const asked = new URL(url, "http://bare").searchParams;
  const { rows } = await served.query({ ...SELECT, values: [asked.get("at"), asked.get("id")] });
  return [200, rows];
}

async function answer(request, body, response) {
  const [status, value] = request.method === "POST" ? await store(body) : await page(request.url);
  const text = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk) => (body += chunk));
  request.on("end", () => void answer(request, body, response));
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
