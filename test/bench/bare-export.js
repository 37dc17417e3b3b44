// Baseline for exports: undici, JSON.parse and joined strings. Arguments: address, file, concurrent requests.
import { writeFileSync } from "node:fs";
import { Pool } from "undici";

const [, , origin, file, atOnce = "1"] = process.argv;
const COLUMNS =
  "id person_id person_email person_name survey_type score comment permalink created_at updated_at person_properties notes tags additional_answers";
const authorization = `Basic ${Buffer.from("benchmark-key:").toString("base64")}`;
const pool = new Pool(origin, { connections: Number(atOnce) });
const texts = [];
let next = 1;
let ended = false;

const time = (seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
const cell = (value) => {
  const text = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const line = (row) =>
  [
    row.id,
    row.person.id,
    row.person.email,
    row.person.name,
    row.survey_type,
    row.score,
    row.comment,
    row.permalink,
    time(row.created_at),
    time(row.updated_at),
    row.person_properties,
    row.notes,
    row.tags,
    row.additional_answers,
  ]
    .map(cell)
    .join(",");

async function worker() {
  while (!ended) {
    const page = next;
    next += 1;
    const path = `/v1/survey_responses.json?per_page=100&page=${page}&expand[]=person&expand[]=notes`;
    const { body } = await pool.request({ path, method: "GET", headers: { authorization } });
    const rows = JSON.parse(await body.text());
    texts[page] = rows.map((row) => `${line(row)}\n`).join("");
    if (rows.length < 100) ended = true;
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, worker));
writeFileSync(file, `${COLUMNS.replaceAll(" ", ",")}\n${texts.join("")}`);
await pool.close();
