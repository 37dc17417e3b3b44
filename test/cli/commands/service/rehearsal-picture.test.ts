import { expect, test } from "vitest";
import { drawRehearsal } from "../../../../src/cli/commands/service/data/rehearsal-picture.ts";
import type { Deps } from "../../../../src/cli/kit/deps.ts";
import { foldEmpty } from "../../../../src/service/rehearsal/periods.ts";
import type { Rehearsal } from "../../../../src/service/rehearsal/results.ts";

const DEPS = { streams: { out: { columns: 40 } }, options: { unicode: false } } as Deps;
const NOON = Date.parse("2026-11-25T12:00:00Z") / 1000;

test("when surveys were held back, then the last lines count them by their reasons, the window among them", () => {
  const message = { person_id: "1", email: "ada@x.co", phone_number: null, channel: "email", platform: null } as const;
  const rehearsal: Rehearsal = {
    since: NOON,
    until: NOON,
    zone: "UTC",
    messages: [{ ...message, kind: "survey", sent_at: NOON }],
    held: [
      { at: NOON, why: "limit" },
      { at: NOON, why: "window" },
      { at: NOON, why: "window" },
      { at: NOON + 1, why: "bounced" },
    ],
    withoutAddress: 0,
  };
  const counts = { held_throttled: 0, held_unsubscribed: 0, held_bounced: 0, held_limit: 1 };
  const drawn = drawRehearsal(DEPS, rehearsal, [{ period: "2026-11-25", surveys: 1, reminders: 0, ...counts }]);
  expect(drawn.split("\n")).toEqual([
    "2026-11-25  1  #########################",
    "",
    "1 survey and 0 reminders, times of UTC",
    "Busiest day: 2026-11-25 with 1",
    "Asked most often: ada@x.co (1)",
    "Held back: 1 by the daily limit, 2 by the window",
    "",
  ]);
});

test("runs of periods without surveys are one line, and no line has a zero", () => {
  const rehearsal: Rehearsal = { since: NOON, until: NOON, zone: "UTC", messages: [], held: [], withoutAddress: 0 };
  const none = { reminders: 0, held_throttled: 0, held_unsubscribed: 0, held_bounced: 0, held_limit: 0 };
  const rows = [2, 0, 0, 0, 1, 0].map((surveys, at) => ({ period: `2026-W0${at + 1}`, surveys, ...none }));
  const [first, ...others] = drawRehearsal(DEPS, rehearsal, foldEmpty(rows)).split("\n");
  expect([first, ...others.slice(0, 3)]).toEqual([
    "2026-W01              2  ###############",
    "2026-W02 to 2026-W04",
    "2026-W05              1  ########",
    "2026-W06",
  ]);
});
