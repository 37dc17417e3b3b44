import { describe, expect, it, onTestFinished } from "vitest";
import { ROUTES } from "../../../src/contract/routes.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { answering, startHookReceiver } from "../../helpers/hook-receiver.ts";
import { openEmbeddedService } from "../../helpers/embedded-service.ts";

const MONDAY = { project: "default", every: "monday", at: "08:00", tz: null, allow_private: true } as const;

async function open(...statuses: readonly number[]) {
  const time = { now: Date.parse("2026-11-18T12:00:00Z") };
  const receiver = await startHookReceiver({ "/hook/secret": answering(...statuses) });
  const world = await openEmbeddedService({ clock: { ...systemClock, now: () => time.now } });
  onTestFinished(async () => {
    await world.close();
    await receiver.close();
  });
  const { admin } = world.service;
  const finishDue = (): Promise<number> => world.service.finishDue();
  const url = `http://127.0.0.1:${receiver.port}/hook/secret`;
  const list = async () => (await admin({ kind: "digest.list", project: "default" }))[0];
  return { ...world, admin, finishDue, receiver, url, time, list };
}

describe("a digest to Slack", () => {
  it("is posted once a week, and its URL is shown without its secret", async () => {
    const { admin, finishDue, receiver, url, time, client, list } = await open(200);
    const added = await admin({ kind: "digest.add", ...MONDAY, target: url });
    expect(added.target).toBe(`http://127.0.0.1:${receiver.port}/…cret`);
    const { json } = await client.call({ route: ROUTES.sendPerson, body: { email: "ada@example.com", send: false } });
    await client.addResponse({ person: json["id"] ?? null, score: 10, comment: "*great* <!channel>" });
    await admin({ kind: "share.add", project: "default", name: "Board", trend: null, segment: [], comments: true });
    time.now = Date.parse("2026-11-23T08:00:30Z");
    await finishDue();
    await finishDue();
    const [post, ...others] = receiver.on("/hook/secret");
    const message = JSON.parse(post?.body ?? "{}") as { text: string; blocks: { type: string }[] };
    expect(message.blocks.at(-1)).toMatchObject({
      type: "rich_text",
      elements: [{ elements: [{ type: "link", url: expect.stringMatching(/\/d\/.*&signature=/), text: "Live page" }] }],
    });
    expect([others, post?.headers["content-type"], message.text.split(";")[0]]).toEqual([
      [],
      "application/json",
      "Customer survey: NPS 100, between -48 and 100",
    ]);
    expect(await list()).toMatchObject({ state: "sent", reason: "answer 1" });
    expect(await admin({ kind: "settings", project: "default", output: "yaml" })).toMatchObject({ digests: [] });
    expect(await admin({ kind: "digest.remove", project: "default", id: url })).toMatchObject({
      target: added.target,
    });
  });

  it("is tried again when Slack has too much to do, and given up for the week when it says no", async () => {
    const { admin, finishDue, receiver, url, time, list } = await open(503, 404);
    await admin({ kind: "digest.add", ...MONDAY, target: url });
    time.now = Date.parse("2026-11-23T08:00:30Z");
    await finishDue();
    expect((await list())?.state).toBe("retrying");
    time.now += 600_000;
    await finishDue();
    expect([receiver.on("/hook/secret").length, await list()]).toMatchObject([
      2,
      { state: "failed", reason: "404 answer 2", next_at: Date.parse("2026-11-30T08:00:00Z") / 1000 },
    ]);
  });

  it("can be seen and tried before, and a URL that sends numbers in the open is refused", async () => {
    const { admin, receiver, url } = await open(200, 500);
    const test = () => admin({ kind: "digest.test", project: "default", id: url });
    await admin({ kind: "digest.add", ...MONDAY, target: url });
    const preview = await admin({ kind: "digest.preview", project: "default" });
    expect([preview.subject, preview.to, preview.text.split("\n")[0], receiver.received.length]).toEqual([
      "Customer survey: no answers",
      "you@example.com",
      "Customer survey",
      0,
    ]);
    expect(preview.html).toContain("prefers-color-scheme:dark");
    expect(await test()).toEqual({
      to: `http://127.0.0.1:${receiver.port}/…cret`,
      subject: "Customer survey: no answers",
      status: 200,
      text: "answer 1",
      mail: null,
    });
    await expect(test()).rejects.toThrow(/…cret did not take it: 500 answer 2$/);
    await expect(admin({ kind: "digest.add", ...MONDAY, target: "ftp://x" })).rejects.toThrow("target");
    await expect(admin({ kind: "digest.add", ...MONDAY, target: "https://u:p@hooks.example.com/x" })).rejects.toThrow(
      "target is not allowed: the URL contains credentials",
    );
  });

  it.each([
    ["http://127.0.0.1:9/x", "127.0.0.1, a loopback address"],
    ["http://localhost:9/x", "localhost, a loopback address"],
    ["http://[::1]:9/x", "[::1], a loopback address"],
    ["http://[::ffff:127.0.0.1]:9/x", "[::ffff:7f00:1], a loopback address"],
    ["https://10.0.0.1/x", "10.0.0.1, a private address"],
    ["https://169.254.169.254/x", "169.254.169.254, an address that webhooks never reach"],
    ["http://hooks.example.com/x", "http:// would send answers unencrypted"],
  ])("may not go where webhooks may not: %s", async (url, message) => {
    const { admin } = await open();
    const why = `is not allowed: ${message}`;
    const refused = { ...MONDAY, target: url, allow_private: false };
    await expect(admin({ kind: "digest.add", ...refused })).rejects.toThrow(why);
    await expect(admin({ kind: "digest.test", project: "default", id: url })).rejects.toThrow(why);
    const wanted = { digests: [{ target: url, every: "monday" }] };
    await expect(admin({ kind: "apply", project: "default", file: wanted, confirm: true })).rejects.toThrow(why);
  });

  it("that was stored before this was a rule goes nowhere, and says why", async () => {
    const { admin, finishDue, receiver, url, time, list, service } = await open(200);
    const { id } = await admin({ kind: "digest.add", ...MONDAY, target: url });
    await service.store.write((tx) => tx.digests.change(1, Number(id), { allowPrivate: 0 }), { project: "all" });
    time.now = Date.parse("2026-11-23T08:00:30Z");
    await finishDue();
    expect(receiver.received).toEqual([]);
    const reason = "the URL is not allowed: 127.0.0.1, a loopback address";
    expect(await list()).toMatchObject({ state: "failed", reason });
  });

  it("is among the changes of apply, which keeps those that the file cannot have", async () => {
    const { admin, url } = await open();
    const digest = { target: url, every: "monday", allow_private: true };
    const apply = (digests: readonly object[]) =>
      admin({ kind: "apply", project: "default", file: { digests } as never, confirm: true });
    const key = `digests["${url.replace("hook/secret", "…cret")}"]`;
    expect(await apply([digest])).toEqual([
      { change: "add", key: `${key}.every`, from: null, to: "monday" },
      { change: "add", key: `${key}.at`, from: null, to: "08:00" },
      { change: "add", key: `${key}.allow_private`, from: null, to: true },
    ]);
    expect(await apply([digest])).toEqual([]);
    expect(await apply([])).toEqual([]);
  });
});
