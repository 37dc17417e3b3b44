import { expect, test } from "vitest";
import { RefusedError } from "../../../../src/client/errors/call-errors.ts";
import type { Client } from "../../../../src/client/client.ts";
import { describeJoining } from "../../../../src/cli/commands/autopilot/survey-dates.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { asReply } from "../../../helpers/fake-client.ts";

const NOVEMBER = 1_795_590_000;
const FEBRUARY = 1_803_290_000;
const joining = { first_survey_at: NOVEMBER, last_survey_at: FEBRUARY, per_day: 156, days: "mon-fri" };

const describe = (answer: JsonObject | Error, count = 10_000): Promise<string | null> => {
  const call = async () => {
    if (answer instanceof Error) throw answer;
    return asReply(answer);
  };
  const { signal } = new AbortController();
  return describeJoining({ call } as Partial<Client> as Client, { platform: "email", count, zone: "UTC", signal });
};

test.each<[JsonObject, number, string | null]>([
  [{ active: true, joining }, 10_000, "10,000 members: surveys from 2026-11-25 to 2027-02-22, about 156 each weekday"],
  [
    { active: true, joining: { ...joining, days: "any", per_day: 1200 } },
    100_000,
    "100,000 members: surveys from 2026-11-25 to 2027-02-22, about 1,200 each day",
  ],
  [
    { active: true, joining: { ...joining, days: "mon,wed,fri" } },
    10_000,
    "10,000 members: surveys from 2026-11-25 to 2027-02-22, about 156 each day (mon,wed,fri)",
  ],
  [{ active: true, joining: { ...joining, per_day: 0 } }, 3, "3 members: surveys from 2026-11-25 to 2027-02-22"],
  [{ active: true, joining: { ...joining, last_survey_at: NOVEMBER } }, 1, "1 member: surveys on 2026-11-25"],
  [{ active: false, joining }, 2, "2 members: no surveys while Autopilot (email) is inactive"],
  [{ active: true }, 2, null],
])("%j of %i members", async (answer, count, line) => {
  expect(await describe(answer, count)).toBe(line);
});

test("when a service refuses the question, then nothing is said", async () => {
  const error = Object.assign(Object.create(RefusedError.prototype) as RefusedError, { status: 422 });
  expect(await describe(error)).toBeNull();
});
