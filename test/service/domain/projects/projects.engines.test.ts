import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  addKey,
  addProject,
  examineKey,
  findKey,
  type KeyFacts,
  revokeKey,
  rotateKey,
  setThrottle,
} from "../../../../src/service/domain/projects/projects.ts";
import { changeSettings, readSettings } from "../../../../src/service/domain/projects/settings.ts";
import { readSpecialProperties } from "../../../../src/service/domain/surveys/special-properties.ts";
import type { Properties } from "../../../../src/contract/resources.ts";
import type { Project } from "../../../../src/service/domain/inputs.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { previewSurvey } from "../../../../src/service/domain/surveys/preview.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { nextDueAt } from "../next-due-at.ts";
import { DAY, START, openFixture, sendInput, type Fixture } from "../fixture.ts";
import { claimDue } from "../claim-due.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const FULL = { name: null, access: "full", expiresAt: null } as const;
const READ_ONLY = { ...FULL, access: "read-only" } as const;

const rotation = (key: string, endsAt: number | null) => ({ makeKey: () => key, endsAt, expiresAt: null });

const shown = (id: number, name: string, throttleSeconds: number | null) => ({
  id,
  name,
  createdAt: START,
  throttleSeconds,
  pausedAt: null,
  limitedUntil: null,
});

test("when projects are made, then they are listed with their settings, and a name is taken once", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  await fixture.write((tx) => setThrottle(tx, other, null));
  expect(await fixture.read((tx) => tx.projects.list())).toEqual([
    shown(1, "default", 2_592_000),
    shown(2, "other", null),
  ]);
  expect(await fixture.read((tx) => tx.projects.byName("other"))).toEqual(shown(2, "other", null));
  expect(await fixture.read((tx) => tx.projects.byName("third"))).toBeNull();
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
  const opened = async (key: string) => {
    const standing = await fixture.read((tx) => examineKey(tx, key));
    return standing.kind === "good" ? standing.key?.project.name : null;
  };
  const first = await fixture.write((tx) => addKey(tx, fixture.project, "key-of-default"));
  await fixture.write((tx) => addKey(tx, other, "key-of-other"));
  expect(first).toEqual({
    id: 1,
    name: "key-1",
    access: "full",
    lastFour: "ault",
    createdAt: START,
    lastUsedOn: null,
    expiresAt: null,
  });
  expect(await fixture.read((tx) => tx.projects.listKeys(fixture.project.id))).toEqual([first]);
  expect([
    await opened("key-of-default"),
    await opened("key-of-other"),
    await opened("KEY-OF-OTHER"),
    await opened(""),
  ]).toEqual(["default", "other", null, null]);
  const standing = async (key: string) => (await fixture.read((tx) => examineKey(tx, key))).kind;
  await expect(fixture.write((tx) => revokeKey(tx, other, "2"))).rejects.toThrow("project other has no key 2");
  expect(await fixture.write((tx) => revokeKey(tx, fixture.project, "1"))).toEqual(first);
  expect(await opened("key-of-default")).toBeNull();
  expect([await standing("key-of-default"), await standing("key-of-other"), await standing("never")]).toEqual([
    "revoked",
    "good",
    "unknown",
  ]);
  await expect(fixture.write((tx) => revokeKey(tx, fixture.project, "1"))).rejects.toThrow("has no key 1");
  expect(await fixture.read((tx) => tx.projects.listKeys(fixture.project.id))).toEqual([]);
});

test("when a key is rotated, then a new one has its name, and the old one opens nothing after its time", async () => {
  const kind = async (key: string) => (await fixture.read((tx) => examineKey(tx, key))).kind;
  await fixture.write((tx) => addKey(tx, fixture.project, "first", { ...FULL, name: "ci" }));
  await expect(fixture.write((tx) => addKey(tx, fixture.project, "again", { ...FULL, name: "ci" }))).rejects.toThrow(
    'a key named "ci" already exists',
  );
  await expect(fixture.write((tx) => addKey(tx, fixture.project, "digits", { ...FULL, name: "12" }))).rejects.toThrow(
    "not a number",
  );
  const endsAt = START + 3600;
  const rotated = await fixture.write((tx) => rotateKey(tx, fixture.project, "ci", rotation("second", endsAt)));
  expect(rotated).toMatchObject({ key: { name: "ci", expiresAt: null }, previous: [{ name: "ci", lastFour: "irst" }] });
  await expect(fixture.write((tx) => revokeKey(tx, fixture.project, "ci"))).rejects.toThrow(
    "is the name of several: 1, 2",
  );
  expect([await kind("first"), await kind("second")]).toEqual(["good", "good"]);
  fixture.time.now = endsAt;
  expect([await kind("first"), await kind("second")]).toEqual(["expired", "good"]);
  const found = async (which: string) => fixture.read((tx) => findKey(tx, fixture.project, which));
  expect(await found("ci")).toMatchObject({ key: { id: 2 }, isLast: true });
  expect(await found("1")).toMatchObject({ key: { id: 1 }, isLast: false });
  expect((await fixture.write((tx) => revokeKey(tx, fixture.project, "ci"))).lastFour).toBe("cond");
  await expect(fixture.write((tx) => rotateKey(tx, fixture.project, "cd", rotation("third", null)))).rejects.toThrow(
    "project default has no key cd",
  );
});

test("when a key only reads, then its beginning says so, and a rotated one reads as it does", async () => {
  const add = (key: string, facts: KeyFacts) => fixture.write((tx) => addKey(tx, fixture.project, key, facts));
  await expect(add("writes-too", READ_ONLY)).rejects.toThrow("key begins with read-only- if it only reads");
  await expect(add("read-only-not", FULL)).rejects.toThrow("key begins with read-only- if it only reads");
  await add("read-only-first", { ...READ_ONLY, name: "ci" });
  const { key } = await fixture.write((tx) =>
    rotateKey(tx, fixture.project, "ci", { ...rotation("read-only-second", null), expiresAt: START + 90 * DAY }),
  );
  expect([key.access, key.lastFour, key.expiresAt]).toEqual(["read-only", "cond", START + 90 * DAY]);
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
  [{ locale: "pt-br" }, { ...NONE, locale: "pt-BR" }],
  [{ locale: "pt-AO" }, NONE],
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

const change = (project: Project, settings: Parameters<typeof changeSettings>[2]) =>
  fixture.write((tx) => changeSettings(tx, project, settings));
const preview = (email: string | null, locale: "de" | null = null) =>
  fixture.read((tx) => previewSurvey(tx, fixture.project, { email, locale }));
const send = (properties: Properties, delaySeconds: number) =>
  fixture.write((tx) =>
    sendPerson(tx, fixture.project, sendInput({ email: "a@x.co", name: "A", properties, delaySeconds })),
  );

describe("settings", () => {
  const none = {
    senderName: null,
    from: null,
    replyTo: null,
    footer: null,
    timeZone: null,
    softBounces: null,
    dailyLimit: null,
  };

  test("when a project has settings, then they are its own, and each is changed and taken back alone", async () => {
    const other = await fixture.write((tx) => addProject(tx, "other"));
    const all = {
      senderName: "Acme",
      from: "ask@acme.example",
      replyTo: "h@b.co",
      footer: "a\n b",
      timeZone: "UTC",
      softBounces: "3",
      dailyLimit: null,
    };
    expect(await change(fixture.project, all)).toEqual(all);
    expect(await change(other, { from: " other@b.co\n" })).toEqual({ ...none, from: "other@b.co" });
    expect(await change(fixture.project, { from: null, replyTo: " " })).toEqual({ ...all, from: null, replyTo: null });
    expect(await change(other, {})).toEqual({ ...none, from: "other@b.co" });
    expect(await fixture.read((tx) => readSettings(tx, fixture.project))).toEqual({
      ...all,
      from: null,
      replyTo: null,
    });
  });

  test("when settings are wrong, then all that is wrong is said, and none is changed", async () => {
    const wrong = {
      senderName: "\u{1F600}".repeat(101),
      from: "Acme <ask@acme.example>",
      replyTo: "zoë@acme.example",
      footer: "x".repeat(501),
      timeZone: "Mars/Base",
    };
    await expect(change(fixture.project, wrong)).rejects.toMatchObject({
      errors: {
        sender_name: ["is too long (maximum is 100 characters)"],
        from: ["contains a space"],
        reply_to: ["has letters other than ASCII before the @"],
        footer: ["is too long (maximum is 500 characters)"],
        tz: ["is not a time zone"],
      },
    });
    await expect(change(fixture.project, { footer: "ok", from: "x" })).rejects.toThrow("from has no @");
    expect(await fixture.read((tx) => readSettings(tx, fixture.project))).toEqual(none);
    const longest = { senderName: "\u{1F600}".repeat(100), footer: "x".repeat(500) };
    expect(await change(fixture.project, longest)).toEqual({ ...none, ...longest });
  });
});

describe("a preview", () => {
  test("has the properties of the waiting survey, else those of a new one, and stores nothing", async () => {
    await fixture.write((tx) => setThrottle(tx, fixture.project, null));
    await send({ n: "first", service_intro_message: "Hello again" }, 0);
    const claimed = await fixture.write((tx) =>
      claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: 10 }),
    );
    for (const due of claimed) await fixture.write((tx) => finishDelivery(tx, due, { kind: "sent" }));
    expect((await preview("a@x.co"))?.properties).toEqual({ n: "first" });
    await send({ n: "next", locale: "fr" }, 50);
    const before = await fixture.read((tx) => nextDueAt(tx, ["email"]));
    expect(await preview("A@x.co", "de")).toMatchObject({
      token: "preview-de",
      channel: "email",
      properties: { n: "next", locale: "de" },
      person: { email: "a@x.co", name: "A" },
    });
    expect((await preview("a@x.co"))?.properties).toEqual({ n: "next", locale: "fr" });
    expect(await fixture.read((tx) => nextDueAt(tx, ["email"]))).toBe(before);
  });

  test("when nobody is named, then it is for a sample; an unknown address has none", async () => {
    expect(await preview(null, "de")).toMatchObject({ properties: { locale: "de" }, person: { name: "Nora" } });
    expect(await preview("b@x.co")).toBeNull();
  });
});
