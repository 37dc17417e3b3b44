import { isBuiltin } from "node:module";
import { expect, it } from "vitest";
import { runCli } from "../../../helpers/run-cli.ts";

// A Node with built-in SQLite can't run without it.
it.skipIf(isBuiltin("node:sqlite"))("when there is no SQLite, then the demo says what its server said", async () => {
  const { status, stderr } = await runCli({ args: ["demo"], env: { NODE_OPTIONS: "--no-addons" } });
  expect([status, stderr]).toEqual([
    1,
    "error: the server did not start: survey.db: this Node has no SQLite; use Node 22.13 or newer, or install the optional package @photostructure/sqlite\n",
  ]);
});
