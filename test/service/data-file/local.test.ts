import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { openLocal } from "../../../src/service/data-file/local.ts";

it("when what is due cannot be delivered at the end, then the data file is free all the same", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-local-"));
  const broken = { isIt: false };
  const now = (): number => {
    if (broken.isIt) throw new Error("broken");
    return systemClock.now();
  };
  const local = await openLocal({
    dataFile: path.join(folder, "local.db"),
    clock: { ...systemClock, now },
    random: systemRandom,
  });
  broken.isIt = true;
  await expect(local.close()).rejects.toThrow("broken");
  expect((await readdir(folder)).filter((name) => name.endsWith(".owner"))).toEqual([]);
  await rm(folder, { recursive: true });
});
