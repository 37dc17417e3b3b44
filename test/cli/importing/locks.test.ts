import { spawn, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { receivers } from "../../helpers/imported.ts";
import { size } from "../../helpers/long.ts";
import { bareEnvironment, follow, PROGRAM, type Ended } from "../../helpers/run-cli.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

/** Takes two seconds, so that the runs overlap. */
const PEOPLE = size(40, 200);

let service: Served;
beforeAll(async () => {
  service = await startServe();
});
afterAll(() => service.stop());

const canUnshare = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;

function runApart(args: readonly string[]): Promise<Ended> {
  const words = ["--pid", "--fork", "--mount-proc", process.execPath, PROGRAM, ...args];
  const child = spawn("unshare", words, { cwd: service.folder, env: bareEnvironment(service.folder, service.env) });
  child.stdin.end();
  return follow(child).ended;
}

test.runIf(canUnshare)(
  "when two containers import the same file, then one does and everybody is mailed once",
  async () => {
    await service.run(["service", "throttle", "off", "--data", service.dataFile]);
    const everybody = Array.from(
      { length: PEOPLE },
      (_, index) => `apart${String(index).padStart(3, "0")}@example.com`,
    );
    const file = path.join(service.folder, "apart.csv");
    await writeFile(file, `email\n${everybody.map((email) => `${email}\n`).join("")}`);
    const args = ["people", "import", file, "--send", "--rate", String(PEOPLE / 2)];
    const runs = await Promise.all([runApart(args), runApart(args)]);
    expect(runs.map(({ status }) => String(status)).toSorted()).toEqual(["0", "2"]);
    expect(runs.map(({ stderr }) => stderr).join("")).toMatch(
      /^error: another run .*is importing with these results$/m,
    );
    expect(await receivers(service, PEOPLE)).toEqual(everybody);
    const results = (await readFile(`${file}.people-import.results.csv`, "utf8")).trim().split("\n");
    expect(results).toHaveLength(PEOPLE + 1);
  },
);
