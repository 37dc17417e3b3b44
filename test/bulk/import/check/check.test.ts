import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { checkTable } from "../../../../src/bulk/import/check/check.ts";
import { PEOPLE_ROWS } from "../../../../src/bulk/import/check/kinds.ts";
import { openTable } from "../../../../src/bulk/import/table/open-table.ts";
import { openTestInput } from "../../../helpers/input-file.ts";

it("when it is stopped on the way, then it reads no further", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-check-"));
  const file = path.join(folder, "people.csv");
  await writeFile(file, `email\n${"ann@example.com\n".repeat(20_000)}`);
  const stop = new AbortController();
  let rows = 0;
  const table = await openTable(await openTestInput(file), {
    kind: PEOPLE_ROWS,
    defaults: {},
    properties: {},
    readers: { delay: () => null, time: () => null, latestTime: 0 },
    header: { renames: [], ignored: [], suggest: () => null },
  });
  const counted: typeof table = {
    ...table,
    checkFields(record) {
      rows += 1;
      stop.abort(new Error("enough"));
      return table.checkFields(record);
    },
  };
  const checked = checkTable(counted, { onDuplicate: null, maxErrors: 20, skipsOptedOut: false, signal: stop.signal });
  await expect(checked).rejects.toThrow("enough");
  expect(rows).toBeLessThan(20_000);
  await rm(folder, { recursive: true });
});
