import { readFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { dkimRecord, readDkimKey } from "../../../src/service/delivery/mail/dkim.ts";
import { dkimProblem } from "../../helpers/dkim-verifier.ts";
import {
  addDigest,
  digestWeek,
  leaveDigest,
  nextDigestAt,
  removeDigest,
} from "../../../src/service/domain/delivery/digests.ts";
import type { DeliveryProgress, DeliveryResult } from "../../../src/service/domain/delivery/sender.ts";
import type { DueDigest } from "../../../src/service/domain/ports.ts";
import { Scheduler } from "../../../src/service/sending/scheduler.ts";
import { releaseDeadClaims } from "../../../src/service/domain/delivery/deliveries.ts";
import { explainFailure, sendComposed } from "../../../src/service/delivery/smtp/send-once.ts";
import { openEmbeddedService, mailOptions } from "../../helpers/embedded-service.ts";
import { fixedClock } from "../../helpers/fake-deps.ts";
import { startPlanServer } from "../../helpers/smtp-plan-server.ts";
import { readMail } from "./read-mail.ts";
import { DAY, openFixture, type Fixture } from "../domain/fixture.ts";

const RSA_KEY = path.join(import.meta.dirname, "../../fixtures/tls/rsa-key.pem");
const at = (text: string): number => Date.parse(text) / 1000;
const iso = (seconds: number | null | undefined): string | null =>
  typeof seconds === "number" ? new Date(seconds * 1000).toISOString().replace(":00.000Z", "Z") : null;
const monday = { weekday: 1, minute: 480, zone: null };
const monday_INPUT = { every: "monday", at: "08:00", tz: null } as const;

describe("the schedule", () => {
  it.each([
    ["Europe/Berlin", 1, 480, "2026-03-25T00:00:00Z", ["2026-03-30T06:00Z", "2026-04-06T06:00Z"]],
    ["Europe/Berlin", 1, 480, "2026-10-20T00:00:00Z", ["2026-10-26T07:00Z", "2026-11-02T07:00Z"]],
    // Clocks skip 02:30 in spring and show it twice in autumn.
    ["Europe/Berlin", 0, 150, "2026-03-28T12:00:00Z", ["2026-03-29T01:30Z", "2026-04-05T00:30Z"]],
    ["Europe/Berlin", 0, 150, "2026-10-24T12:00:00Z", ["2026-10-25T00:30Z", "2026-11-01T01:30Z"]],
    ["Pacific/Apia", 1, 0, "2026-11-22T00:00:00Z", ["2026-11-22T11:00Z", "2026-11-29T11:00Z"]],
    ["UTC", 1, 480, "2026-11-23T08:00:00Z", ["2026-11-30T08:00Z", "2026-12-07T08:00Z"]],
  ])("in %s, day %i, minute %i, after %s", (zone, weekday, minute, after, expected) => {
    const schedule = { weekday, minute, zone: null };
    const first = nextDigestAt(schedule, zone, at(after));
    expect([first, nextDigestAt(schedule, zone, first)].map(iso)).toEqual(expected);
  });

  it("when clocks change within the week, then weeks neither overlap nor leave a gap", () => {
    const [spring, next] = ["2026-03-30T06:00:00Z", "2026-04-06T06:00:00Z"].map((text) =>
      digestWeek(at(text), "Europe/Berlin"),
    );
    expect([spring?.before, spring?.since, spring?.until, next?.since].map(iso)).toEqual([
      "2026-03-15T23:00Z",
      "2026-03-22T23:00Z",
      "2026-03-29T21:59:59.000Z",
      "2026-03-29T22:00Z",
    ]);
  });
});

async function openDigests() {
  const fixture: Fixture = await openFixture();
  onTestFinished(() => fixture.store.close());
  fixture.time.now = at("2026-11-18T12:00:00Z");
  const sent: (string | null)[] = [];
  type Deliver = (due: DueDigest, progress: DeliveryProgress) => Promise<DeliveryResult>;
  const marking: Deliver = async (due, progress) => {
    if (!(await progress.mayStillSend())) return { kind: "cancelled", reason: "withdrawn" };
    await progress.transmitting();
    sent.push(iso(due.scheduledAt));
    return { kind: "sent" };
  };
  const state = { starts: 0 };
  const run = async (deliver = marking): Promise<void> => {
    state.starts += 1;
    const { store, time } = fixture;
    const clock = { ...fixedClock(), now: () => time.now * 1000 };
    const errors: unknown[] = [];
    const claimer = `process-${state.starts}`;
    const scheduler = new Scheduler({
      store,
      clock,
      claimer,
      heartbeat: {
        beat: async () => void (await store.write((tx) => releaseDeadClaims(tx, [claimer]), { project: "all" })),
        isLeader: () => true,
        end: () => Promise.resolve(),
      },
      senders: [
        {
          name: "test",
          channels: ["digest"],
          capacity: () => 1,
          deliver: (due, progress) =>
            due.channel === "digest" ? deliver(due, progress) : Promise.reject(new Error("not a digest")),
        },
      ],
      maxAgeSeconds: null,
      onUnknown: "hold",
      onOutcome: () => undefined,
      onError: (error) => void errors.push(error),
    });
    await scheduler.finish();
    expect(errors).toEqual([]);
  };
  const only = async () => (await fixture.read((tx) => tx.digests.list(1)))[0];
  const email = "boss@example.com";
  await fixture.write((tx) => addDigest(tx, fixture.project, email, monday));
  return { ...fixture, sent, run, only, marking, email };
}

describe("a digest", () => {
  test("when the service looks often, is started again, or was away, then each week has one mail at most", async () => {
    const { store, time, sent, run, only } = await openDigests();
    for (let hours = 0; hours < 21 * 24; hours += 5) {
      time.now += 5 * 3600;
      await run();
    }
    expect(sent).toEqual(["2026-11-23T08:00Z", "2026-11-30T08:00Z", "2026-12-07T08:00Z"]);
    // After five weeks and a day of downtime, only the latest digest is sent.
    time.now = at("2027-01-12T09:00:00Z");
    await run();
    await run();
    expect(sent.slice(3)).toEqual(["2027-01-11T08:00Z"]);
    // If the service comes back three days late, that week is skipped.
    time.now = at("2027-01-21T09:00:00Z");
    await run();
    expect([sent.slice(4), (await only())?.state, iso((await only())?.dueAt)]).toEqual([
      [],
      "failed",
      "2027-01-25T08:00Z",
    ]);
    expect(await store.check()).toEqual([]);
  });

  test("when the clock jumps ahead and back, then no week has a second mail", async () => {
    const { time, sent, run } = await openDigests();
    const jumps = ["2026-11-23T08:01:00Z", "2026-12-14T09:00:00Z", "2026-11-23T08:02:00Z", "2026-11-30T08:00:10Z"];
    for (const jump of [...jumps, "2026-12-14T10:00:00Z", "2026-12-21T08:00:01Z"]) {
      time.now = at(jump);
      await run();
    }
    expect(sent).toEqual(["2026-11-23T08:00Z", "2026-12-14T08:00Z", "2026-12-21T08:00Z"]);
  });

  test("when its schedule changes on the day of a mail, then that day has no second one", async () => {
    const { store, time, sent, run, project, email } = await openDigests();
    for (const [now, minute] of [
      ["2026-11-23T08:00:00Z", 600],
      ["2026-11-23T10:00:00Z", 600],
      ["2026-11-30T10:00:00Z", 480],
      ["2026-12-07T08:00:00Z", 480],
    ] as const) {
      time.now = at(now);
      await run();
      await store.write((tx) => addDigest(tx, project, email, { ...monday, minute }), { project: "all" });
    }
    expect(sent).toEqual(["2026-11-23T08:00Z", "2026-11-30T10:00Z", "2026-12-07T08:00Z"]);
  });

  test("when the service dies before the mark, then the mail goes out; after it, it is unknown and not repeated", async () => {
    const { time, sent, run, only } = await openDigests();
    // A dead process neither sends nor records anything after this point.
    const dies = (marks: boolean): Promise<void> =>
      new Promise((reached) => {
        void run(async (_, progress) => {
          if (marks) await progress.transmitting();
          reached();
          return new Promise<never>(() => undefined);
        });
      });
    time.now = at("2026-11-23T08:00:00Z");
    await dies(false);
    await run();
    expect([sent.splice(0), (await only())?.state]).toEqual([["2026-11-23T08:00Z"], "sent"]);
    time.now = at("2026-11-30T08:00:00Z");
    await dies(true);
    await run();
    expect([sent, (await only())?.state, iso((await only())?.dueAt)]).toEqual([[], "unknown", "2026-12-07T08:00Z"]);
  });

  test("when the server says later, then the same week's mail is tried again; a bounce ends it for good", async () => {
    const { time, sent, run, only } = await openDigests();
    time.now = at("2026-11-23T08:00:00Z");
    await run(async () => ({ kind: "retry", delaySeconds: 300 }));
    expect([(await only())?.state, (await only())?.attempts, ((await only())?.dueAt ?? 0) - time.now >= 300]).toEqual([
      "retrying",
      1,
      true,
    ]);
    time.now += 3600;
    await run();
    expect(sent).toEqual(["2026-11-23T08:00Z"]);
    time.now += 7 * DAY;
    await run(async () => ({ kind: "bounced" }));
    time.now += 7 * DAY;
    await run();
    expect([sent.length, (await only())?.state, (await only())?.dueAt]).toEqual([1, "bounced", null]);
  });

  test("when its reader leaves, also while a mail is in hand, then nothing more goes out; coming back is one click", async () => {
    const { store, time, sent, run, only, marking, project, email } = await openDigests();
    time.now = at("2026-11-23T08:00:00Z");
    await run(async (due, progress) => {
      await store.write((tx) => leaveDigest(tx, due.token, "leave"), { project: "all" });
      return marking(due, progress);
    });
    time.now += 7 * DAY;
    await run();
    expect(sent).toEqual([]);
    await expect(store.write((tx) => addDigest(tx, project, email, monday), { project: "all" })).rejects.toThrow(
      "has unsubscribed",
    );
    const token = (await only())?.token ?? "";
    expect(await store.write((tx) => leaveDigest(tx, token, "undo"), { project: "all" })).toBe(true);
    time.now += 7 * DAY;
    await run();
    expect(sent).toEqual(["2026-12-07T08:00Z"]);
    await store.write((tx) => removeDigest(tx, project, email), { project: "all" });
    expect(await store.read((tx) => tx.digests.list(1))).toEqual([]);
  });
});

test("when a week is over, then the mail tells it, in the sender's name, and its link ends it", async () => {
  const time = { now: at("2026-11-17T12:00:00Z") };
  const clock = { ...systemClock, now: () => time.now * 1000 };
  const embedded = await openEmbeddedService({ clock });
  onTestFinished(() => embedded.close());
  const { service, client, folder, baseUrl } = embedded;
  const { admin } = service;
  await admin({ kind: "settings", project: "default", sender_name: "Acme", tz: "Europe/Berlin" });
  const added = await admin({ kind: "digest.add", project: "default", target: "boss@example.com", ...monday_INPUT });
  expect(added).toEqual({
    id: expect.any(String),
    target: "boss@example.com",
    every: "monday",
    at: "08:00",
    tz: "Europe/Berlin",
    state: "scheduled",
    next_at: at("2026-11-23T07:00:00Z"),
    last_sent_at: null,
    reason: null,
    created_at: time.now,
  });
  const sent = await client.sendPerson({ email: "ada@example.com", name: "Ada Hill", send: false });
  const person = sent.kind === "answered" ? (sent.reply.json["id"] ?? null) : null;
  await client.addResponse({ person, score: 3, comment: "Ask ada@example.com about the invoice" });
  await client.addResponse({ person, score: 10 });
  time.now = at("2026-11-23T07:00:00Z");
  await service.finishDue();
  await service.finishDue();
  const outbox = path.join(folder, "outbox");
  const [name = "", ...more] = await readdir(outbox);
  expect(more).toEqual([]);
  const bytes = await readFile(path.join(outbox, name), "utf8");
  const [head = ""] = bytes.split("\r\n\r\n");
  const mail = bytes.replaceAll("=\r\n", "");
  expect(
    head
      .replaceAll("\r", "")
      .replace(/NmP-\w+-/g, "NmP-B-")
      .replace(/<\w{32}@/, "<ID@"),
  ).toMatchInlineSnapshot(`
    "From: Acme <surveys@localhost>
    To: boss@example.com
    Subject: Acme: NPS 0 (2 answers)
    Message-ID: <ID@localhost>
    Date: Mon, 23 Nov 2026 07:00:00 +0000
    Content-Language: en
    List-ID: <digest.default.localhost>
    Feedback-ID: 1:digest:en:49960de588
    Auto-Submitted: auto-generated
    X-Auto-Response-Suppress: OOF, AutoReply
    MIME-Version: 1.0
    Content-Type: multipart/alternative;
     boundary="--_NmP-B-Part_1""
  `);
  const text = mail.slice(mail.indexOf("\r\n\r\nAcme"), mail.indexOf("text/html"));
  const secret = /\/u\/[\w-]+|NmP-\w+-|(?<=\/r\/)[\w-]{22}|(?<=signature=3D)[\w-]{43}/g;
  expect(text.replaceAll("\r", "").replace(secret, "[..]")).toMatchInlineSnapshot(`
    "

    Acme

    NPS 0, between -73 and 73; 2 answers, too few to say.
    2026-11-16 =E2=80=93 2026-11-22 =C2=B7 n 2 =C2=B7 95% interval

    Promoters    50%  1  ###############
    Passives      0%  0
    Detractors   50%  1  ###############

    1 comment

    3 (2026-11-17) [5] http://127.0.0.1:8080/r/[..]?expires=3D1798009200&signature=3D[..]
      Ask [email-1] about the invoice

    --=20
    You get this every Monday.
    Unsubscribe: http://127.0.0.1:8080[..]

    ----_[..]Part_1
    Content-Type: "
  `);
  const [, permalink = ""] = /\[5\] http:\/\/[^/]+(\S+)/.exec(mail.replaceAll("=3D", "=")) ?? [];
  const leave = /http:\/\/127\.0\.0\.1:8080(\/u\/[\w-]+)/.exec(mail)?.[1] ?? "";
  const visit = async (method: string, url: string): Promise<string> => {
    const reply = await service.handle({ method, url: `${baseUrl}${url}`, headers: {} });
    const page = typeof reply.body === "string" ? reply.body : "";
    return (
      /<main[^>]*>([\s\S]*)<\/main>/
        .exec(page)?.[1]
        ?.replace(/<[^>]+>|\s+/g, " ")
        .replace(/ +/g, " ")
        .trim() ?? ""
    );
  };
  const states = async () => (await admin({ kind: "digest.list", project: "default" })).map(({ state }) => state);
  expect(await visit("GET", permalink)).toMatch(/^Acme Ada Hill: 3 of 10 Ask ada@example\.com about the invoice /);
  expect([await visit("GET", leave), await states()]).toMatchInlineSnapshot(`
    [
      "Acme Weekly digest b•••@example.com Stop the weekly digest from Acme? Unsubscribe",
      [
        "sent",
      ],
    ]
  `);
  expect([await visit("POST", leave), await states()]).toMatchInlineSnapshot(`
    [
      "Acme You will get no more digests from Acme. b•••@example.com Keep sending me the digest",
      [
        "unsubscribed",
      ],
    ]
  `);
  expect([await visit("POST", `${leave}/undo`), await states()]).toMatchInlineSnapshot(`
    [
      "Acme You get the weekly digest again. b•••@example.com Unsubscribe",
      [
        "sent",
      ],
    ]
  `);
});

test("when a person is deleted over the API, then no mail in the outbox quotes them", async () => {
  const time = { now: at("2026-11-17T12:00:00Z") };
  const embedded = await openEmbeddedService({ clock: { ...systemClock, now: () => time.now * 1000 } });
  onTestFinished(() => embedded.close());
  const { service, client, folder } = embedded;
  await service.admin({ kind: "digest.add", project: "default", target: "boss@example.com", ...monday_INPUT });
  const sent = await client.sendPerson({ email: "ada@example.com", send: false });
  const person = sent.kind === "answered" ? (sent.reply.json["id"] as string) : "";
  await client.addResponse({ person, score: 3, comment: "The invoice was late" });
  time.now = at("2026-11-23T08:00:00Z");
  await service.finishDue();
  await service.finishDue();
  const mails = (): Promise<readonly string[]> => readdir(path.join(folder, "outbox"));
  expect(await mails()).toHaveLength(1);
  const headers = { authorization: `Basic ${btoa(`${embedded.apiKey}:`)}` };
  const url = `${embedded.baseUrl}/v1/people/${person}.json`;
  expect(await service.handle({ method: "DELETE", url, headers })).toMatchObject({ status: 202 });
  await service.finishDue();
  await expect.poll(mails).toEqual([]);
});

test("when mail goes over SMTP, then a digest is signed, one click ends it, and what the server says is told", async () => {
  const server = await startPlanServer();
  onTestFinished(server.stop);
  const time = { now: at("2026-11-17T12:00:00Z") };
  const clock = { ...systemClock, now: () => time.now * 1000 };
  const dkim = readDkimKey(readFileSync(RSA_KEY, "utf8"), { domain: "example.com", selector: "s1" });
  const publicUrl = "https://survey.example.com";
  const embedded = await openEmbeddedService({ clock, publicUrl, smtp: { port: server.port, dkim } });
  onTestFinished(() => embedded.close());
  const { service } = embedded;
  for (const email of ["ok@example.com", "550-5.1.1@example.com"])
    await service.admin({ kind: "digest.add", project: "default", target: email, ...monday_INPUT });
  const finish = async (): Promise<void> => {
    await service.finishDue();
    await service.finishDue();
  };
  time.now = at("2026-11-23T08:00:00Z");
  await finish();
  expect(server.accepted.map(({ from, to }) => [from, to])).toEqual([["us@example.com", "ok@example.com"]]);
  const list = async () =>
    (await service.admin({ kind: "digest.list", project: "default" })).map(({ target, state, reason }) => [
      target,
      state,
      reason,
    ]);
  const bounced = ["550-5.1.1@example.com", "bounced", expect.stringContaining("does not exist")];
  expect(await list()).toEqual([["ok@example.com", "sent", expect.stringContaining("queued")], bounced]);

  // What a mail client checks before it shows its one-click button (RFC 8058), and what that button does.
  const text = server.accepted[0]?.text ?? "";
  expect(dkimProblem(text, dkimRecord(dkim))).toBeNull();
  expect(dkimProblem(text.replace("=One-Click", "=Two-Click"), dkimRecord(dkim))).not.toBeNull();
  const { headers } = readMail(text);
  expect(headers["dkim-signature"]).toMatch(/h=[\w:\s-]*:\s*list-unsubscribe:\s*list-unsubscribe-post:/);
  expect(headers["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
  const [, url = ""] = /^<(https:\/\/survey\.example\.com\/u\/[\w-]+)>$/.exec(headers["list-unsubscribe"] ?? "") ?? [];
  const click = { method: "POST", url, headers: {}, body: "List-Unsubscribe=One-Click" };
  expect([(await service.handle(click)).status, (await service.handle(click)).status]).toEqual([200, 200]);
  time.now += 7 * DAY;
  await finish();
  expect([server.accepted.length, await list()]).toEqual([
    1,
    [["ok@example.com", "unsubscribed", expect.stringContaining("queued")], bounced],
  ]);
});

test("when a digest is tried by mail, then one mail leaves at once and its schedule stays", async () => {
  const server = await startPlanServer();
  onTestFinished(server.stop);
  const now = at("2026-11-18T12:00:00Z");
  const dkim = readDkimKey(readFileSync(RSA_KEY, "utf8"), { domain: "example.com", selector: "s1" });
  const clock = { ...systemClock, now: () => now * 1000 };
  const embedded = await openEmbeddedService({ clock, smtp: { port: server.port, dkim } });
  onTestFinished(() => embedded.close());
  const { admin } = embedded.service;
  const send = async (digest: string) => {
    const { mail, ...sent } = await admin({ kind: "digest.test", project: "default", id: digest });
    const way = { ...mailOptions({ port: server.port, dkim }), clock, signal: new AbortController().signal };
    const result = await sendComposed(mail!, way);
    const failure = explainFailure(result);
    if (failure !== null) throw new Error(failure.message);
    return { ...sent, status: result.reply.code };
  };
  const boss = await admin({ kind: "digest.add", project: "default", target: "ok@example.com", ...monday_INPUT });
  const sent = { subject: "Customer survey: no answers", status: 250 };
  expect(await send(boss.id)).toMatchObject({ ...sent, to: "ok@example.com" });
  expect(await send("ok+new@example.com")).toMatchObject({ ...sent, to: "ok+new@example.com" });
  expect(await admin({ kind: "digest.list", project: "default" })).toEqual([boss]);
  const mails = server.accepted.map(({ from, to, text }) => {
    const { headers, parts } = readMail(text);
    expect(dkimProblem(text, dkimRecord(dkim))).toBeNull();
    return [from, to, headers["subject"], /You get this every \w+/.exec(parts["text/plain"] ?? "")?.[0]];
  });
  expect(mails).toEqual([
    ["us@example.com", "ok@example.com", "Customer survey: no answers", "You get this every Monday"],
    ["us@example.com", "ok+new@example.com", "Customer survey: no answers", "You get this every Wednesday"],
  ]);
  const leave = /Unsubscribe: .*\/u\/(\S+)/.exec(
    readMail(server.accepted[0]?.text ?? "").parts["text/plain"] ?? "",
  )?.[1];
  await embedded.service.store.write((tx) => leaveDigest(tx, leave ?? "", "leave"), { project: "all" });
  await expect(send("ok@example.com")).rejects.toThrow("target has unsubscribed from the digest");
  await expect(send("99")).rejects.toThrow("project default has no digest 99");
  await expect(send("550-5.1.1@example.com")).rejects.toThrow(
    /^the mail server refused the mail at rcpt-to: 550 5.1.1 /,
  );
  expect(server.accepted.length).toBe(2);
});
