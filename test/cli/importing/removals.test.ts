import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServe, type Served } from "../../helpers/serve.ts";

let service: Served;
beforeAll(async () => {
  service = await startServe();
});
afterAll(() => service.stop());

test("when a row has an address and an id, then the address is removed, and non-members are not failures", async () => {
  for (const email of ["ann@example.com", "bob@example.com"])
    await service.run(["autopilot", "add", "--email", email, "--quiet"]);
  const list = await service.run(["autopilot", "list", "-o", "ndjson"]);
  const ids = list.stdout
    .trim()
    .split("\n")
    .map((row) => (JSON.parse(row) as { person: { id: string } }).person.id);
  const file = path.join(service.folder, "leavers.csv");
  // The id is Bob's and the address Ann's, because ids from another service mean other people.
  await writeFile(file, `person_id,email\n${ids[1]},ann@example.com\n,stranger@example.com\n`);
  const ended = await service.run(["autopilot", "remove", "--from", file, "--yes"]);
  expect([ended.status, ended.stderr.split(" in ")[0]]).toEqual([0, "1 removed, 1 skipped"]);
  const results = await readFile(`${file}.autopilot-remove.results.csv`, "utf8");
  expect(results.trim().split("\n").slice(1)).toEqual([
    `2,ann@example.com,saved,${ids[0]},,,,`,
    "3,stranger@example.com,skipped,,,not in Autopilot (email); nothing to remove,,",
  ]);
  expect((await service.run(["autopilot", "list", "--columns", "person_email"])).stdout).toBe("bob@example.com\n");
});
