import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServe, type Served } from "../../helpers/serve.ts";

const state: { service: Served | null; folder: string } = { service: null, folder: "" };

function service(): Served {
  if (state.service === null) throw new Error("no service");
  return state.service;
}

beforeAll(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-written-"));
  await writeFile(path.join(state.folder, "more.csv"), "email\nbob@example.com\n");
  state.service = await startServe();
  await state.service.run(["people", "add", "--email", "ada@example.com", "--no-send"]);
}, 60_000);
afterAll(async () => {
  await state.service?.stop();
  await rm(state.folder, { recursive: true, force: true });
});

test.each([
  "people export --out @data",
  "people export --out @data --append --state @folder/state",
  "report --out @data",
  "people import @folder/more.csv --no-send --results @data",
  "people import @folder/more.csv --no-send --failed-to @data --results @folder/results.csv",
  "service survey preview --out @data --data @data",
])("when `%s` names the data file, then it is refused and the service goes on", async (line) => {
  const { dataFile } = service();
  const words = line.split(" ").map((word) => word.replace("@data", dataFile).replace("@folder", state.folder));
  const ended = await service().run(words);
  expect([ended.status, ended.stderr.split("\n").findLast((text) => text.startsWith("error: "))]).toEqual([
    2,
    `error: cannot write ${dataFile}: it is a SQLite database; name another file`,
  ]);
  expect((await service().run(["people", "list", "--columns", "email"])).stdout).toBe("ada@example.com\n");
  expect(await readdir(state.folder)).toEqual(["more.csv"]);
});
