import { afterEach, beforeEach, expect, test } from "vitest";
import {
  addKey,
  addProject,
  authenticate,
  findProject,
  listKeys,
  listProjects,
  revokeKey,
  setThrottle,
} from "../../../src/service/domain/projects.ts";
import { readSpecialProperties } from "../../../src/service/domain/special-properties.ts";
import { START, openFixture, type Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const shown = (id: number, name: string, throttleSeconds: number | null) => ({
  id,
  name,
  createdAt: START,
  throttleSeconds,
  pausedAt: null,
});

test("when projects are made, then they are listed with their settings, and a name is taken once", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  await fixture.write((tx) => setThrottle(tx, other, null));
  expect(await fixture.read((tx) => listProjects(tx))).toEqual([
    shown(1, "default", 2_592_000),
    shown(2, "other", null),
  ]);
  expect(await fixture.read((tx) => findProject(tx, "other"))).toEqual(shown(2, "other", null));
  expect(await fixture.read((tx) => findProject(tx, "third"))).toBeNull();
  await expect(fixture.write((tx) => addProject(tx, "other"))).rejects.toMatchObject({
    errors: { name: ["has already been taken"] },
  });
  await expect(fixture.write((tx) => addProject(tx, " "))).rejects.toMatchObject({
    errors: { name: ["can't be blank"] },
  });
  await expect(fixture.write((tx) => setThrottle(tx, other, -1))).rejects.toMatchObject({
    errors: { throttle: ["is invalid"] },
  });
});

test("when a key is added, then it opens its own project until it is revoked, and is never stored itself", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  const opened = async (key: string) => (await fixture.read((tx) => authenticate(tx, key)))?.name ?? null;
  const first = await fixture.write((tx) => addKey(tx, fixture.project, "key-of-default"));
  await fixture.write((tx) => addKey(tx, other, "key-of-other"));
  expect(first).toEqual({ id: 1, lastFour: "ault", createdAt: START });
  expect(await fixture.read((tx) => listKeys(tx, fixture.project))).toEqual([first]);
  expect([
    await opened("key-of-default"),
    await opened("key-of-other"),
    await opened("KEY-OF-OTHER"),
    await opened(""),
  ]).toEqual(["default", "other", null, null]);
  expect(await fixture.write((tx) => revokeKey(tx, other, "2"))).toBe(false);
  expect(await fixture.write((tx) => revokeKey(tx, fixture.project, "1"))).toBe(true);
  expect(await opened("key-of-default")).toBeNull();
});

test.each(["", "with:colon", "with space", "x".repeat(45), "späße"])(
  "when a key is %j, then it is refused",
  async (key) => {
    await expect(fixture.write((tx) => addKey(tx, fixture.project, key))).rejects.toMatchObject({
      name: "InvalidError",
    });
  },
);

const NONE = {
  productName: null,
  emailSubject: null,
  introMessage: null,
  locale: "en",
  thankYouMessage: null,
  thankYouLinkText: null,
  thankYouLinkUrl: null,
};

test.each([
  [{}, NONE],
  [
    { question_product_name: "Acme", locale: "pt-BR" },
    { ...NONE, productName: "Acme", locale: "pt-BR" },
  ],
  [{ locale: "pt-br" }, NONE],
  [{ locale: 7 }, NONE],
  [
    { delighted_email_subject: "Old", delighted_intro_message: "Hi" },
    { ...NONE, emailSubject: "Old", introMessage: "Hi" },
  ],
  [
    { delighted_email_subject: "Old", service_email_subject: "New" },
    { ...NONE, emailSubject: "New" },
  ],
  [
    { thank_you_message: "Thanks", thank_you_link_text: "Shop", thank_you_link_url: "https://x.co" },
    { ...NONE, thankYouMessage: "Thanks", thankYouLinkText: "Shop", thankYouLinkUrl: "https://x.co" },
  ],
  [{ constructor: "x", service_email_subject: null }, NONE],
])("when properties are %j, then special ones read as %j", (properties, expected) => {
  expect(readSpecialProperties(properties)).toEqual(expected);
});
