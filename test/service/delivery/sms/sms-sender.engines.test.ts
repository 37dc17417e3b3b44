import { afterEach, expect, it } from "vitest";
import { resolveDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { changeSettings } from "../../../../src/service/domain/projects/settings.ts";
import { answering, type HookPlan } from "../../../helpers/hook-receiver.ts";
import { inTurn, lost, openTexting, saying, type Texting, type TextingOptions } from "./texting.ts";
import { deliveriesOf } from "../../domain/lists.ts";

const ADA = "+4917012345678";
/** The default poll interval of 50 ms would dominate the run time. */
const SOON = { interval: 5, timeout: 10_000 };
const open: Texting[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

async function start(options: TextingOptions = {}): Promise<Texting> {
  const texting = await openTexting(options);
  open.push(texting);
  return texting;
}

const garbage: HookPlan = (_, response) => void response.socket?.end("220 mail.example ESMTP\r\n");

it("when a survey is due, then the gateway gets its text once, with a key that names it, and its segments are counted", async () => {
  const texting = await start({ gateway: { from: "+4930111" } });
  await texting.ask(ADA, { question_product_name: "Acme" });
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("sent | 1 | - | sent");
  const [request] = texting.gateway.on("/ok");
  const [body = {}] = texting.sent();
  const link = /\nhttps:\/\/survey\.example\.com\/s\/[\w-]{22}\nReply STOP to opt out\.$/;
  expect(body.text).toMatch(link);
  expect({ ...body, text: body.text?.replace(link, ""), id: "" }).toEqual({
    to: ADA,
    text: "How likely are you to recommend Acme to a friend?",
    from: "+4930111",
    id: "",
  });
  expect(request?.headers).toMatchObject({
    authorization: "Bearer gateway-secret",
    "content-type": "application/json",
    "idempotency-key": body.id,
  });
  expect(body.id).toMatch(/^[\w-]{22}$/);
  const today = new Date(texting.clock.now()).toISOString().slice(0, 10);
  expect(await texting.read((tx) => tx.texts.segmentsOn(texting.project.id, today))).toBe(1);
  const attempt = {
    outcome: "sent",
    stage: "gateway",
    code: 200,
    enhancedCode: null,
    text: '{"id":"m1"}',
    serverId: "m1",
  };
  expect(await texting.lastAttempt(ADA)).toEqual(attempt);
});

const VONAGE_OK = '{"message-count":"1","messages":[{"to":"4917","message-id":"0C1","status":"0"}]}';
const BASIC = { name: "Authorization", value: `Basic ${btoa("key:secret-of-the-account")}` };

it.each<[string, TextingOptions, Record<string, unknown>, string | undefined]>([
  [
    "form",
    { gateway: { format: "form", fields: { to: "Dest", text: "Msg" } } },
    { Dest: ADA },
    "Bearer gateway-secret",
  ],
  [
    "twilio",
    { gateway: { format: "twilio", from: "+15550100", header: BASIC }, plans: { "/ok": saying(201, '{"sid":"SM1"}') } },
    { To: ADA, From: "+15550100" },
    BASIC.value,
  ],
  [
    "vonage",
    { gateway: { format: "vonage", from: "+15550100", header: BASIC }, plans: { "/ok": saying(200, VONAGE_OK) } },
    { to: ADA.slice(1), from: "15550100", api_key: "key", api_secret: "secret-of-the-account" },
    undefined,
  ],
  [
    "telnyx",
    { gateway: { format: "telnyx", from: "+15550100" }, plans: { "/ok": saying(200, '{"data":{"id":"T1"}}') } },
    { to: ADA, from: "+15550100" },
    "Bearer gateway-secret",
  ],
])(
  "when the gateway is one of %s, then it gets the fields that it knows",
  async (_, options, fields, authorization) => {
    const texting = await start(options);
    await texting.ask(ADA);
    await expect.poll(() => texting.stateOf(ADA), SOON).toBe("sent | 1 | - | sent");
    const { Body, Msg, text = Body ?? Msg, id: _id, ...rest } = texting.sent()[0] ?? {};
    expect([rest, text?.split("\n")[0]]).toEqual([fields, "Acme: How likely are you to recommend us to a friend?"]);
    expect(texting.gateway.on("/ok")[0]?.headers.authorization).toBe(authorization);
  },
);

const LOGIN = "<!doctype html><title>Please log in</title>";

/** Expected state, attempts, reason and outcomes, then the last attempt's status, provider code and text. */
it.each<[string, HookPlan, NonNullable<TextingOptions["gateway"]>, string, unknown[]]>([
  ["no body", saying(204, ""), {}, "sent | 1 | - | sent", [204, null, ""]],
  ["a word", saying(200, "OK ID: 77"), {}, "sent | 1 | - | sent", [200, null, "OK ID: 77"]],
  [
    "JSON with a byte order mark",
    saying(200, '\uFEFF{"id":"b1"}'),
    {},
    "sent | 1 | - | sent",
    [200, null, '{"id":"b1"}'],
  ],
  [
    "429",
    saying(429, "slow down"),
    {},
    "scheduled | 0 | the sender waits after gateway 429 | released",
    [429, null, "slow down"],
  ],
  ["503", saying(503, "{}"), {}, "scheduled | 0 | the sender waits after gateway 503 | released", [503, null, "{}"]],
  [
    "400",
    saying(400, '{"code":7}'),
    {},
    'failed | 1 | the gateway answered 400, 7, {"code":7} | failed',
    [400, "7", '{"code":7}'],
  ],
  ["401", saying(401, "who?"), {}, "held | 0 | the gateway answered 401, who? | held", [401, null, "who?"]],
  [
    "a redirect",
    saying(302, "", { location: "/ok" }),
    {},
    "held | 0 | the gateway answered 302 | held",
    [302, null, ""],
  ],
  ["504", saying(504, "lost it"), {}, "unknown | 1 | - | unknown", [504, null, "lost it"]],
  ["nothing, and closes", lost, {}, "unknown | 1 | - | unknown", [null, null, "the connection broke"]],
  ["something that is not HTTP", garbage, {}, "unknown | 1 | - | unknown", [null, null, "220 mail.example ESMTP\r\n"]],
  ["a login page", saying(200, LOGIN), {}, "unknown | 1 | - | unknown", [200, null, LOGIN]],
  ["half of a JSON text", saying(200, '{"id":"m'), {}, "unknown | 1 | - | unknown", [200, null, '{"id":"m']],
  [
    "its own secret",
    saying(400, "gateway-secret is bad"),
    {},
    "failed | 1 | the gateway answered 400, *** is bad | failed",
    [400, null, "*** is bad"],
  ],
  [
    "an error with 200",
    saying(200, '{"ok":false}'),
    {},
    'failed | 1 | the gateway answered 200, {"ok":false} | failed',
    [200, null, '{"ok":false}'],
  ],
  [
    "Twilio's opt-out",
    saying(400, '{"code":21610}'),
    { format: "twilio" },
    "cancelled | 0 | the number has opted out | cancelled",
    [400, "21610", '{"code":21610}'],
  ],
  [
    "Twilio's bad number",
    saying(400, '{"code":21211}'),
    { format: "twilio" },
    "bounced | 1 | - | bounced",
    [400, "21211", '{"code":21211}'],
  ],
  ["no id of Twilio's", saying(201, "{}"), { format: "twilio" }, "unknown | 1 | - | unknown", [201, null, "{}"]],
  [
    "Vonage's throttling",
    saying(200, '{"messages":[{"status":"1"}]}'),
    { format: "vonage" },
    "scheduled | 0 | the sender waits after gateway 200 1 | released",
    [200, "1", '{"messages":[{"status":"1"}]}'],
  ],
  [
    "Vonage's bad credentials",
    saying(200, '{"messages":[{"status":"4"}]}'),
    { format: "vonage" },
    'held | 0 | the gateway answered 200, 4, {"messages":[{"status":"4"}]} | held',
    [200, "4", '{"messages":[{"status":"4"}]}'],
  ],
])("when the gateway answers %s, then the survey is as the table says", async (_, plan, gateway, state, attempt) => {
  const texting = await start({ path: "/plan", plans: { "/plan": plan }, gateway });
  await texting.ask(ADA);
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe(state);
  const { code, enhancedCode, text } = await texting.lastAttempt(ADA);
  expect([code, enhancedCode, text]).toEqual(attempt);
  expect(texting.gateway.on("/plan")).toHaveLength(1);
});

it("when the provider says that a number has opted out, then nothing more is sent to it", async () => {
  const plans = { "/plan": saying(400, '{"code":21610}') };
  const texting = await start({ path: "/plan", plans, gateway: { format: "twilio" } });
  await texting.ask(ADA);
  await expect.poll(() => texting.stateOf(ADA), SOON).toContain("cancelled");
  const stops = await texting.read((tx) => tx.suppressions.list(texting.project.id, "sms", ADA));
  expect(stops.map(({ reason }) => reason)).toEqual(["stop"]);
});

it("when an answer is long, then its first kilobyte is kept", async () => {
  const texting = await start({ path: "/plan", plans: { "/plan": saying(400, "x".repeat(100_000)) } });
  await texting.ask(ADA);
  await expect.poll(async () => (await texting.stateOf(ADA)).split(" ")[0], SOON).toBe("failed");
  expect((await texting.lastAttempt(ADA)).text).toBe("x".repeat(1024));
});

it("when the gateway is down, then nothing is marked, and the survey goes out once it is back", async () => {
  const texting = await start({ gateway: { url: "http://127.0.0.1:1/" } });
  await texting.ask(ADA);
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("scheduled | 0 | - | released");
  expect(await texting.lastAttempt(ADA)).toMatchObject({ stage: "connect", text: "the connection was refused" });
});

it("when the gateway refuses for now, then it is tried again with the same key and text, and sent once", async () => {
  const texting = await start({ path: "/plan", plans: { "/plan": answering(503, 503, 200) } });
  await texting.ask(ADA);
  for (const count of [1, 2]) {
    await texting.gateway.until("/plan", count);
    await expect.poll(() => texting.stateOf(ADA), SOON).toContain(Array(count).fill("released").join(","));
    texting.clock.advance(20 * 60_000);
  }
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("sent | 1 | - | released,released,sent");
  const [first, ...others] = texting.sent("/plan");
  expect(others).toEqual([first, first]);
});

it("when credentials are refused three times, then no more texts are tried until a probe goes through", async () => {
  const texting = await start({ path: "/plan", plans: { "/plan": answering(401, 401, 401, 401, 401, 401, 200) } });
  const numbers = Array.from({ length: 12 }, (_, at) => `+491701234${String(at).padStart(4, "0")}`);
  for (const number of numbers) await texting.ask(number);
  const states = async () => (await Promise.all(numbers.map(texting.stateOf))).map((state) => state.split(" ")[0]);
  await expect.poll(async () => (await texting.read((tx) => tx.senders.list()))[0]?.state.state, SOON).toBe("held");
  await new Promise((resolve) => void setTimeout(resolve, 50));
  // Three failures open the breaker; one more per connection was already in flight.
  expect(texting.gateway.on("/plan").length).toBeLessThanOrEqual(6);
  await expect.poll(async () => new Set(await states()), SOON).toEqual(new Set(["held", "scheduled"]));
  // Advances the clock only when nothing is in flight, or a text would time out.
  const underWay = async () => (await states()).filter((state) => state === "claimed" || state === "transmitting");
  for (let step = 0; step < 20 && (await states()).some((state) => state !== "sent"); step += 1) {
    await expect.poll(underWay, SOON).toEqual([]);
    texting.clock.advance(16 * 60_000);
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
  await expect.poll(states, SOON).toEqual(numbers.map(() => "sent"));
  const got = texting
    .sent("/plan")
    .slice(-12)
    .map(({ to }) => to);
  expect(new Set(got)).toEqual(new Set(numbers));
});

it("when an unknown text is resent, then it has the same key", async () => {
  const texting = await start({ path: "/plan", plans: { "/plan": inTurn(lost, saying(200, "{}")) } });
  await texting.ask(ADA);
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("unknown | 1 | - | unknown");
  const [row] = await texting.read((tx) => deliveriesOf(tx, texting.project.id, "unknown"));
  texting.clock.advance(60_000);
  await texting.write((tx) => resolveDelivery(tx, texting.project, row!.requestId, "resend"));
  await texting.ask("+4917099999999");
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("sent | 2 | - | unknown,sent");
  const same = texting.sent("/plan").filter(({ to }) => to === ADA);
  expect(same).toEqual([same[0], same[0]]);
});

it("when a country is not on the list, or the text is too long, then the survey is held", async () => {
  const texting = await start({ limits: { countries: ["+49", "+1"], maxSegments: 1 } });
  await texting.ask("+33612345678");
  await texting.ask(ADA, { service_intro_message: "x".repeat(150) });
  await expect
    .poll(() => texting.stateOf("+33612345678"), SOON)
    .toBe("held | 0 | texts to this country are not allowed | ");
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("held | 0 | the text takes 2 segments, more than 1 | ");
  expect(texting.gateway.received).toEqual([]);
});

it("when the day's segments are used up, then surveys wait for the next day of the project", async () => {
  const texting = await start({ limits: { daily: 2 } });
  await texting.write((tx) => changeSettings(tx, texting.project, { timeZone: "Pacific/Auckland" }));
  const numbers = ["+491701000001", "+491701000002", "+491701000003"];
  for (const number of numbers) await texting.ask(number);
  // The texts are claimed in parallel, so any of the three can be the one that waits.
  const states = async () => (await Promise.all(numbers.map((number) => texting.stateOf(number)))).toSorted();
  const waiting = /^scheduled \| 0 \| the project's 2 segments of \S+ are used up \| $/;
  const sent = "sent | 1 | - | sent";
  await expect.poll(states, SOON).toEqual([expect.stringMatching(waiting), sent, sent]);
  const rows = await texting.read((tx) => deliveriesOf(tx, texting.project.id, "scheduled"));
  const hour = new Intl.DateTimeFormat("en", {
    timeZone: "Pacific/Auckland",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  expect(rows.map(({ dueAt }) => hour.format(dueAt * 1000))).toEqual(["00:00"]);
  texting.clock.advance(25 * 3600_000);
  await texting.ask("+491701000004");
  await expect.poll(() => texting.gateway.received.length, SOON).toBe(4);
});

it("when the day's segments are used up day by day, then no survey is too late for waiting", async () => {
  const texting = await start({ limits: { daily: 1 }, maxAgeSeconds: 3600 });
  const numbers = ["+491701000001", "+491701000002", "+491701000003"];
  for (const number of numbers) await texting.ask(number);
  const states = async () => (await Promise.all(numbers.map((number) => texting.stateOf(number)))).toSorted();
  const waits = expect.stringMatching(/^scheduled \| 0 \| .* are used up/);
  const firstDueMs = async () => {
    const waiting = await texting.read((tx) => deliveriesOf(tx, texting.project.id, "scheduled"));
    // Nothing is scheduled while the last survey is claimed.
    return waiting.length === 0 ? 0 : Math.min(...waiting.map(({ dueAt }) => dueAt * 1000));
  };
  for (const left of [2, 1, 0]) {
    const expected = numbers.map((_, at) => (at < left ? waits : "sent | 1 | - | sent"));
    await expect.poll(states, SOON).toEqual(expected);
    if (left === 0) break;
    await expect.poll(firstDueMs, SOON).toBeGreaterThan(texting.clock.now());
    texting.clock.advance((await firstDueMs()) - texting.clock.now());
  }
});

const berlin = (ms: number): string => new Date(ms).toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin" });

it("when it is night, then surveys wait for the morning, and none is too late for it", async () => {
  const texting = await start({ limits: { quiet: { from: 0, to: 23 } }, maxAgeSeconds: 600 });
  if (berlin(texting.clock.now()).startsWith("23")) texting.clock.advance(3600_000);
  await texting.ask(ADA);
  const waits = "scheduled | 0 | quiet hours until 23:00 Europe/Berlin | ";
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe(waits);
  const [row] = await texting.read((tx) => deliveriesOf(tx, texting.project.id));
  // The warped clock keeps running, so the seconds vary.
  expect(berlin(row!.dueAt * 1000)).toMatch(/^23:00:\d\d/);
  texting.clock.advance(row!.dueAt * 1000 - texting.clock.now());
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("sent | 1 | - | sent");
});
