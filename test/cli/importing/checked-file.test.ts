import { appendFile, readFile, rename, truncate, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { peopleAt, receivers } from "../../helpers/imported.ts";
import { startInside } from "../../helpers/in-process.ts";
import { startProgram } from "../../helpers/run-cli.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

const ROWS = 40;
const EVERYBODY = Array.from({ length: ROWS }, (_, index) => `same${String(index).padStart(2, "0")}@example.com`);
const TEXT = `email\n${EVERYBODY.map((email) => `${email}\n`).join("")}`;

let service: Served;
let file = "";
beforeEach(async () => {
  service = await startServe();
  await service.run(["service", "throttle", "off", "--data", service.dataFile]);
  file = path.join(service.folder, "people.csv");
  await writeFile(file, TEXT);
});
afterEach(() => service.stop());

async function firstOutcome(): Promise<void> {
  const journal = `${file}.people-import.results.csv.journal`;
  while (!(await readFile(journal, "utf8").catch(() => "")).includes('"done"'))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

const CHANGES: readonly (readonly [what: string, change: () => Promise<void>])[] = [
  ["a line is appended", () => appendFile(file, "stranger@example.com\n")],
  ["it is truncated", () => truncate(file, 100)],
  ["it is written anew", () => writeFile(file, TEXT.replace("same39", "stranger"))],
  [
    "another file takes its place",
    async () => {
      await writeFile(`${file}.new`, TEXT.replaceAll("same", "else"));
      await rename(`${file}.new`, file);
    },
  ],
  ["it is removed", () => unlink(file)],
];

test.each(CHANGES)(
  "when %s while it is sent, then the run stops, and resumes when the file is back",
  async (_, change) => {
    const args = ["people", "import", file, "--send"];
    const running = startInside({ args: [...args, "--rate", "30"], home: service.folder, env: service.env });
    await firstOutcome();
    await change();
    const ended = await running.ended;
    expect([ended.status, ended.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: people\.csv has changed since it was checked\nhint: the rows that were sent are in the results; put/m,
      ) as string,
    ]);
    expect(ended.stderr).toMatch(/^To resume: surveyctl people import .*people\.csv --send --rate 30 --resume$/m);
    expect((await peopleAt(service)).length).toBeLessThan(ROWS);
    await writeFile(file, TEXT);
    expect((await service.run([...args, "--resume"])).status).toBe(0);
    expect([await peopleAt(service), await receivers(service, ROWS)]).toEqual([EVERYBODY, EVERYBODY]);
  },
  60_000,
);

const UNSENT = "people.csv has changed since it was checked\r\nhint: nothing was sent; run it again\r\n";

test("when the file changes while the plan is asked about, then nothing is sent", async () => {
  const args = ["people", "import", file];
  const running = startProgram({ args, home: service.folder, env: service.env, tty: { columns: 100 } });
  await running.saying(/Send 40 emails\? \[y\/N\]/);
  await appendFile(file, "stranger@example.com\n");
  running.child.stdin.end("y\n");
  const ended = await running.ended;
  expect([ended.status, ended.stdout]).toEqual([1, expect.stringContaining(UNSENT)]);
  expect(await peopleAt(service)).toEqual([]);
});
