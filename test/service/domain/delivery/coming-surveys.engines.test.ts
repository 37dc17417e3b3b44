/** Predicted Autopilot surveys must match what is then sent. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWallClock } from "../../../../src/runtime/zone.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { countDays, listMerged } from "../../../../src/service/domain/delivery/lists/list-deliveries.ts";
import { openSources } from "../../../../src/service/domain/delivery/lists/sources.ts";
import { changeSettings } from "../../../../src/service/domain/projects/settings.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { reckonComing } from "../../../../src/service/domain/surveys/autopilot/coming-surveys.ts";
import { claimAll, DAY, type Fixture, memberInput, openFixture, START } from "../fixture.ts";

const ZONE = "Pacific/Auckland";
const RANGE = { since: START + 20 * DAY, until: START + 50 * DAY };
const NOTHING = { state: null, reason: null, personId: null };

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  await fixture.write((tx) => changeSettings(tx, fixture.project, { timeZone: ZONE }));
});
afterEach(() => fixture.store.close());

async function joinAll(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: `m${index}@x.co` })));
}

const list = async (coming: Awaited<ReturnType<typeof reckonComing>>) =>
  fixture.read(async (tx) => {
    const sources = await openSources(tx, fixture.project, NOTHING);
    const page = { ...RANGE, order: "asc", after: null, limit: 100 } as const;
    return (await countDays({ sources, coming }, createWallClock(ZONE), page)).map(
      ({ day, counts: { scheduled, sent }, coming: more }) => [day, scheduled + sent + more],
    );
  });

async function sendAll(): Promise<void> {
  const scheduled = { ...NOTHING, state: "scheduled" } as const;
  const page = { since: null, until: RANGE.until, order: "asc", after: null, limit: 1 } as const;
  for (;;) {
    const [next] = await fixture.read(async (tx) =>
      listMerged(await openSources(tx, fixture.project, scheduled), page),
    );
    if (next === undefined) return;
    fixture.time.now = next.dueAt;
    for (const due of await fixture.write(claimAll))
      await fixture.write((tx) => finishDelivery(tx, due, { kind: "sent" }));
  }
}

test.each([
  { frequency: 7 * DAY, days: "mon-fri", hours: "5-10" },
  { frequency: 14 * DAY, days: "tue,thu", hours: "22-3" },
  { frequency: 3 * DAY, days: "any", hours: "any" },
  { frequency: 90 * DAY, days: "mon-fri", hours: "5-10" },
])("with $frequency s on $days at $hours", async (settings) => {
  await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { first: "spread", ...settings }));
  await joinAll(10);
  const reckoned = await list(await reckonComing(fixture.store, "default", RANGE));
  await sendAll();
  expect(reckoned.length).toBeGreaterThan(0);
  expect(reckoned).toEqual(await list([]));
});

test("an inactive Autopilot adds nothing", async () => {
  await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { frequency: 7 * DAY }));
  await joinAll(3);
  await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { active: false }));
  expect(await reckonComing(fixture.store, "default", RANGE)).toEqual([]);
});

test("a range with millions of surveys is refused", async () => {
  await fixture.write((tx) =>
    configureAutopilot(tx, fixture.project, "email", { frequency: 1, days: "any", hours: "any" }),
  );
  await joinAll(1);
  const range = { since: START, until: START + 24 * DAY };
  await expect(reckonComing(fixture.store, "default", range)).rejects.toThrow(
    "until is too far ahead: Autopilot would add more than 2,000,000 surveys",
  );
});
