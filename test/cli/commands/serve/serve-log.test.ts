import { expect, test } from "vitest";
import { createServeLog } from "../../../../src/cli/commands/serve/serve-log.ts";
import { logOverdue } from "../../../../src/service/service-log.ts";
import { fakeDeps } from "../../../helpers/fake-deps.ts";

const SAID = "40 messages were due more than 72 hours ago and are held";
const HINT = "`surveyctl service delivery list --state held` shows them, `service delivery resume` sends them";

test("on a terminal, messages that are held at the start are told with the command that sends them", () => {
  const { deps, err } = fakeDeps({ width: 80 });
  logOverdue(createServeLog(deps, null), 40, 3 * 86_400);
  expect(err()).toMatch(/^\d\d:\d\d:\d\d /);
  expect(err().slice(9)).toBe(`warning: ${SAID}; ${HINT}\n`);
});

test("in the JSON log the command is a field of its own", () => {
  const { deps, err } = fakeDeps();
  const log = createServeLog(deps, "json");
  logOverdue(log, 40, 3 * 86_400);
  log.flush();
  expect(JSON.parse(err())).toEqual({
    time: "2026-02-01T12:00:00.000Z",
    level: "warn",
    event: "surveys_overdue",
    msg: SAID,
    held: 40,
    max_age_seconds: 259_200,
    hint: HINT,
  });
});
