import { mkdir, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { size } from "../../helpers/long.ts";
import { createPast, WHOLE_SHAPES } from "../../helpers/past.ts";
import { openPastStore } from "../../helpers/past-store.ts";
import { startProgram } from "../../helpers/run-cli.ts";

/** Number of kills, the nth after n × 200 kB of WAL. */
const KILL_AT = size(1, 6);
/** Enough that the last try still has rows to store. */
const PEOPLE = size(500, 6000);

test("when an import is killed again and again, then the file is sound and the same import completes it", async () => {
  const files = WHOLE_SHAPES["NDJSON of the API"]?.(createPast(PEOPLE)) ?? {};
  const [store, whole] = [await openPastStore(), await openPastStore()];
  await store.dump();
  const saved = path.join(store.folder, "saved");
  await mkdir(saved);
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(saved, name), text);
  const dataFile = path.join(store.folder, "survey.db");
  const args = ["service", "import", saved, "--data", dataFile, "--quiet", "-o", "csv"];
  const grown = async (): Promise<number> => (await stat(`${dataFile}-wal`).catch(() => ({ size: 0 }))).size;
  for (let kill = 1; kill <= KILL_AT; kill += 1) {
    const running = startProgram({ args, home: store.folder });
    running.child.stdin.end();
    const before = await grown();
    while (running.child.exitCode === null && (await grown()) < before + kill * 200_000) await sleep(5);
    running.child.kill("SIGKILL");
    expect((await running.ended).signal).toBe("SIGKILL");
  }
  const { status, stdout } = await runInside({ args, home: store.folder });
  const [, people = ""] = stdout.split("\n");
  expect({ status, people: people.startsWith(`people,${PEOPLE},`) }).toEqual({ status: 0, people: true });
  expect(people).not.toBe(`people,${PEOPLE},${PEOPLE},0,0,0,0`);
  await whole.import(files);
  const [{ operation_log: log, ...stored }, { operation_log: _, ...expected }] = [
    await store.dump(),
    await whole.dump(),
  ];
  expect(stored).toEqual(expected);
  expect(log).toMatchObject([{ operation: "import" }]);
  await store.close();
  await whole.close();
});
