import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { Flags } from "../../../src/cli/args/flags.ts";
import { choosePlace, readPlace, showDatabase } from "../../../src/cli/kit/data/data-place.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { readTarget } from "../../../src/service/store/postgres/connections.ts";

const URL = "postgres://ada:secret@db.example/nps?sslmode=disable";

async function targetOf(values: Record<string, unknown>, env: Record<string, string> = {}): Promise<unknown> {
  try {
    const place = await choosePlace({ env, platform: "linux" }, { data: readPlace(new Flags(values)) });
    return place.kind === "database" ? readTarget(place.url).config.connectionString : place.dataFile;
  } catch (error) {
    return (error as Error).message;
  }
}

async function list(...args: string[]): Promise<unknown> {
  const { status, stderr } = await runInProcess({ args: ["service", "project", "list", ...args] });
  return [status, stderr];
}

it("when a database is reached without TLS over a network, then it is refused unless that is allowed", async () => {
  const refused =
    "--database: sslmode=disable would send the password readable by others (insecure=on in the URL allows it)";
  const insecureDatabase = true;
  expect({
    plain: await targetOf({ database: URL }),
    "with the flag": await targetOf({ database: URL, insecureDatabase }),
    "with the flag and a file": await targetOf({ data: "survey.db", insecureDatabase }),
    "from the environment": await targetOf({}, { SURVEYCTL_DATABASE: URL }),
    "from the environment, allowed": await targetOf({}, { SURVEYCTL_DATABASE: `${URL}&insecure=on` }),
    "on this machine": await targetOf({ database: "postgres://localhost/nps?sslmode=disable" }),
  }).toEqual({
    plain: refused,
    "with the flag": URL,
    "with the flag and a file": "--insecure-database requires --database or --database-file",
    "from the environment": refused.replace("--database", "SURVEYCTL_DATABASE"),
    "from the environment, allowed": URL,
    "on this machine": "postgres://localhost/nps?sslmode=disable",
  });
});

it("when a URL is not one of a database, then it is refused by its flag, without its password", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-place-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "url");
  await writeFile(file, "mysql://ada:secret@db.example/nps\n", { mode: 0o600 });
  const problem = "must be a URL such as postgres://user@host/name";
  expect([
    await list("--database", "mysql://ada:secret@db.example/nps"),
    await list("--database", "secret"),
    await list("--database-file", file),
    await targetOf({}, { SURVEYCTL_DATABASE: "postgres://ada:secret@" }),
  ]).toEqual([
    [2, `error: --database: ${problem}\n`],
    [2, `error: --database: ${problem}\n`],
    [2, `error: --database-file ${file}: ${problem}\n`],
    `SURVEYCTL_DATABASE: ${problem}`,
  ]);
});

it("when a database is named, then its URL leads there and has no secret", () => {
  expect(
    [
      URL,
      "postgres://db.example/nps",
      "postgres:///nps?host=/run/postgresql&password=secret&port=5433&user=ada",
      "postgres:///nps?password=secret",
      "nonsense",
    ].map(showDatabase),
  ).toEqual([
    "postgres://ada@db.example/nps?sslmode=disable",
    "postgres://db.example/nps",
    "postgres:///nps?host=/run/postgresql&port=5433&user=ada",
    "postgres:///nps",
    "the database",
  ]);
});
