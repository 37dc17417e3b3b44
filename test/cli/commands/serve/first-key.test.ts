import path from "node:path";
import { expect, test } from "vitest";
import { announce, writeKeyFile } from "../../../../src/cli/commands/serve/first-key.ts";
import { createServeLog } from "../../../../src/cli/commands/serve/serve-log.ts";
import { fakeDeps } from "../../../helpers/fake-deps.ts";

test("a key that cannot be written is not in the log, which says how to make another", async () => {
  const { deps, err } = fakeDeps();
  const data = path.join(import.meta.dirname, "no-such-folder/survey.db");
  const keyFile = await writeKeyFile(deps, data, "the-secret-key");
  const log = createServeLog(deps, "json");
  await announce(deps, log, { data, url: "http://127.0.0.1:8080", key: "the-secret-key", keyFile }, null);
  log.flush();
  expect(JSON.parse(err())).toMatchObject({
    level: "error",
    event: "api_key",
    msg: `cannot write the API key to ${data}.key: no such file or directory`,
    hint: "surveyctl service key add makes another",
  });
  expect(err()).not.toContain("the-secret-key");
});
