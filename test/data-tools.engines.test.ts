import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findProgram, ROOT } from "./deploy/deploy-files.ts";
import { onPostgres } from "./helpers/postgres.ts";
import { type Served, startServe } from "./helpers/serve.ts";

const page = readFileSync(path.join(ROOT, "docs/data.md"), "utf8");
const hasPandas = spawnSync("/usr/bin/python3", ["-c", "import pandas"]).status === 0;

function blocks(title: string): string[] {
  const [, chapter = ""] = page.split(`\n### ${title}\n`);
  const [text = ""] = chapter.split(/^##/m);
  return [...text.matchAll(/^```\w+\n(.*?)^```/gms)].map(([, block = ""]) => block);
}

let served: Served;
beforeAll(async () => {
  served = await startServe();
  const rows = [
    ["ann@example.com", "9", "2026-01-31T23:59:59Z", "pro"],
    ["bob@example.com", "3", "2026-01-09T00:00:00Z", "free"],
    ["cy@example.com", "7", "2026-02-01T00:00:00Z", "pro"],
    ["dora@example.com", "10", "2026-02-03T00:00:00Z", ""],
  ];
  const stdin = ["email,score,created_at,plan", ...rows.map((row) => row.join(","))].join("\n");
  const { status, stderr } = await served.run(
    ["responses", "import", "-", "--results", path.join(served.folder, "results.csv"), "-q"],
    { stdin },
  );
  if (status !== 0) throw new Error(stderr);
});
afterAll(() => served.stop());

function type(program: string, args: readonly string[], script: string): string {
  const input = script.replaceAll("survey.db", served.dataFile);
  const env = { ...process.env, PGTZ: "America/New_York", TZ: "America/New_York", SURVEYCTL_DATABASE: served.place[1] };
  const { status, stdout, stderr } = spawnSync(program, args, { input, env, cwd: served.folder, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

const rows = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.includes("|") ? [line.replaceAll(" ", "")] : []));

describe("docs/data.md", () => {
  it.skipIf(onPostgres || findProgram("sqlite3") === null)("sqlite3 reads the file while it is served", () => {
    const [block = ""] = blocks("sqlite3");
    const cells = type("sh", [], block)
      .split("\n")
      .filter((line) => line.startsWith("│"))
      .map((line) =>
        line
          .split("│")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(cells).toEqual([
      ["month", "responses", "nps"],
      ["2026-01", "2", "0.0"],
      ["2026-02", "2", "50.0"],
    ]);
  });

  it.skipIf(onPostgres || !hasPandas)("pandas reads the file while it is served", () => {
    const [block = ""] = blocks("pandas");
    const lines = type("/usr/bin/python3", ["-"], block).trimEnd().split("\n");
    expect(lines.slice(2).map((line) => line.split(/\s+/))).toEqual([
      ["2026-01", "2", "0.0"],
      ["2026-02", "2", "50.0"],
    ]);
  });

  it.skipIf(!onPostgres || findProgram("psql") === null)(
    "psql reads the database, and a role of its own only the views",
    () => {
      const [query = "", grant = ""] = blocks("psql");
      expect(rows(type("sh", [], query))).toEqual(["month|responses|nps", "2026-01|2|0", "2026-02|2|50"]);
      const role = `analyst_${process.pid}`;
      type("sh", [], grant.replaceAll("analyst", role));
      const asRole = (sql: string): string =>
        `psql "$SURVEYCTL_DATABASE" -At -c "SET ROLE ${role}" -c "${sql}" 2>&1 || true\n`;
      expect(type("sh", [], asRole("SELECT count(*) FROM v1_people"))).toBe("SET\n4\n");
      expect(type("sh", [], asRole("SELECT count(*) FROM people"))).toBe(
        "SET\nERROR:  permission denied for table people\n",
      );
      type("sh", [], `psql -q "$SURVEYCTL_DATABASE" -c "DROP OWNED BY ${role}" -c "DROP ROLE ${role}"\n`);
    },
  );
});
