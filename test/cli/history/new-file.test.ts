import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ended, runCli, startProgram } from "../../helpers/run-cli.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-new-"));
});
afterEach(() => rm(folder, { recursive: true }));

const DASHBOARD =
  "Survey Date,Response Date,Email,Score\n2026-01-01,2026-02-02,a@example.com,9\n2026-01-01,,b@example.com,9\n";

async function importInto(dataFile: string, ...flags: string[]): Promise<Ended> {
  const file = path.join(folder, "dashboard.csv");
  await writeFile(file, DASHBOARD);
  const maps = ["--map", "Response Date=created_at", "--columns", "read,kept,refused"];
  return runCli({ args: ["service", "import", file, "--data", dataFile, ...maps, ...flags], env: { HOME: folder } });
}

test("an import into a file that does not exist creates it, and its key opens the service", async () => {
  const dataFile = path.join(folder, "new.db");
  const { stderr } = await importInto(dataFile);
  const [, key = ""] =
    /^Created .*new\.db \(project "default"\)\. API key, shown once:\n\n {2}(\S+)$/m.exec(stderr) ?? [];
  expect(stderr).toContain(`\n  surveyctl serve --data ${dataFile}\n`);
  const server = startProgram({ args: ["serve", "--data", dataFile, "--port", "0"], home: folder });
  const [, baseUrl = ""] = await server.saying(/listening on (\S+)/);
  const env = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: key };
  const listed = await runCli({ args: ["responses", "list", "--columns", "person_email,created_at"], env });
  server.child.kill("SIGTERM");
  await server.ended;
  expect(listed.stdout).toBe("a@example.com\t2026-02-02T00:00:00Z\n");
  expect((await importInto(dataFile)).stderr).not.toContain("API key");
});

test("what is typed wins over the name of a column, also where its cell is empty", async () => {
  const { status, stdout, stderr } = await importInto(path.join(folder, "new.db"), "--check");
  expect([status, stdout]).toEqual([3, "2\t1\t1\n"]);
  expect(stderr).toContain("dashboard.csv:3: no created_at\n");
  expect(stderr).toMatch(/^note: .*dashboard\.csv: columns not kept: Survey Date \(2 rows\)$/m);
  expect(stderr).not.toContain("Survey Date -> created_at");
  expect(await readdir(folder)).toEqual(["dashboard.csv"]);
});

test("a mistyped name of a file to import leaves no new service behind", async () => {
  const args = ["service", "import", path.join(folder, "nosuch.csv"), "--data", path.join(folder, "new.db")];
  expect([(await runCli({ args })).status, await readdir(folder)]).toEqual([2, []]);
});

test("a key from the environment becomes that of the new file and is not printed", async () => {
  const dataFile = path.join(folder, "new.db");
  const file = path.join(folder, "people.csv");
  await writeFile(file, "email,created_at\na@example.com,2026-01-01\n");
  const key = "a-key-of-the-closed-service";
  const env = { SURVEYCTL_API_KEY: key, HOME: folder };
  const { stderr } = await runCli({ args: ["service", "import", file, "--data", dataFile], env });
  expect(stderr).not.toContain(key);
  const listed = await runCli({ args: ["service", "key", "list", "--data", dataFile, "--json"], env });
  expect(JSON.parse(listed.stdout)).toHaveLength(1);
});
