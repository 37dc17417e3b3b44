// Importing history costs at most twice a bare loop that parses and inserts the same rows, and memory stays flat.
import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { build } from "rolldown";
import { measure } from "./measured-process.js";
import { PROGRAM, startService, temporaryFolder } from "./programs.js";
import { atLeast, atMost, median, show } from "./report.js";

const isLong = process.argv.includes("--long");
const RESPONSES = 100_000;
const MANY = isLong ? 1_000_000 : RESPONSES;
const ROUNDS = 3;

/** NDJSON in the API's format, in chronological order, with a third as many people as responses. */
async function writeHistory(folder, responses) {
  mkdirSync(folder, { recursive: true });
  const people = Math.ceil(responses / 3);
  const files = { people: path.join(folder, "people.ndjson"), responses: path.join(folder, "responses.ndjson") };
  await writeRows(files.people, people, (at) => ({
    id: String(100_000_000 + at),
    email: `person${at}@example.com`,
    name: `Ada ${at}`,
    created_at: 1_600_000_000 + at,
    phone_number: null,
    last_sent_at: 1_650_000_000 + at,
  }));
  await writeRows(files.responses, responses, (at) => ({
    id: String(200_000_000 + at),
    person: String(100_000_000 + ((at * 7919) % people)),
    survey_type: "nps",
    score: (at * 7919) % 11,
    comment: at % 4 === 0 ? "Works every day for us." : null,
    permalink: `https://closed.example/r/${at}`,
    created_at: 1_660_000_000 + at * 30,
    updated_at: 1_660_000_000 + at * 30,
    person_properties: { plan: at % 6 === 0 ? "pro" : "free", region: "EMEA" },
    notes: [],
    tags: at % 5 === 0 ? ["vip"] : [],
    additional_answers: [],
  }));
  return { folder, ...files };
}

async function writeRows(file, count, row) {
  const stream = createWriteStream(file);
  for (let at = 0; at < count; at += 1000) {
    const rows = Array.from(
      { length: Math.min(1000, count - at) },
      (_, index) => `${JSON.stringify(row(at + index))}\n`,
    );
    if (!stream.write(rows.join(""))) await once(stream, "drain");
  }
  stream.end();
  await once(stream, "finish");
}

const scripts = path.join(import.meta.dirname, `../../node_modules/.bench-${process.pid}`);
process.on("exit", () => rmSync(scripts, { recursive: true, force: true }));
const bare = path.join(scripts, "bare-history.mjs");
await build({
  input: path.join(import.meta.dirname, "bare-history.ts"),
  platform: "node",
  external: /^[^./]/,
  output: { file: bare, codeSplitting: false },
  logLevel: "silent",
});

async function imported(history) {
  const dataFile = path.join(temporaryFolder(), "survey.db");
  await (await startService(dataFile)).stop();
  return measure(PROGRAM, ["service", "import", history.folder, "--data", dataFile, "--quiet"]);
}

const history = await writeHistory(path.join(temporaryFolder(), "some"), RESPONSES);
const ratios = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const floor = await measure(bare, [path.join(temporaryFolder(), "bare.db"), history.people, history.responses]);
  const measured = await imported(history);
  ratios.push(floor.cpuMs / measured.cpuMs);
  show("history: rows a second of processor time", (RESPONSES * 4000) / 3 / measured.cpuMs);
}
atLeast(`history of ${RESPONSES} responses: rows a second / bare loop`, median(ratios), 0.25);
const many = MANY === RESPONSES ? history : await writeHistory(path.join(temporaryFolder(), "many"), MANY);
atMost(`history of ${MANY} responses: peak MB`, (await imported(many)).peakMb, 250);
