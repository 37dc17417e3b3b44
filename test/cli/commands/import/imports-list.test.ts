import { expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";

it.each([
  [[], "", "note: no import is recorded in this folder\n"],
  [["--json"], "[]\n", '{"note":"no import is recorded in this folder"}\n'],
])("when nothing was imported and the flags are %j, then the note says so", async (flags, stdout, stderr) => {
  const ended = await runInProcess({ args: ["import", "list", ...flags] });
  expect(ended).toMatchObject({ status: 0, stdout, stderr });
});
