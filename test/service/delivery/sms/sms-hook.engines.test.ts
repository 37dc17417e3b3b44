import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { setHookKey, type SigningGateway } from "../../../../src/service/domain/delivery/hook-secrets.ts";
import { answerSurvey } from "../../../../src/service/domain/answers/answers.ts";
import { explainPerson } from "../../../../src/service/domain/delivery/oversight.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { memberInput, links, responsesQuery, sendInput } from "../../domain/fixture.ts";
import { listResponsesJson } from "../../../../src/service/domain/answers/responses.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { APP_URL, inTurn, lost, openTexting, saying, type Texting, type TextingOptions } from "./texting.ts";

const ADA = "+4917012345678";
const OURS = "+4930111";
const DAY_MS = 86_400_000;
/** The default poll interval of 50 ms would dominate the run time. */
const SOON = { interval: 5, timeout: 10_000 };
const open: Texting[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

async function start(options: TextingOptions = {}): Promise<Texting> {
  const texting = await openTexting({ mode: "conversation", ...options, gateway: { from: OURS, ...options.gateway } });
  open.push(texting);
  return texting;
}

async function asked(options: TextingOptions = {}, properties = {}): Promise<Texting> {
  const texting = await start(options);
  await texting.ask(ADA, properties);
  await expect.poll(() => texting.stateOf(ADA), SOON).toContain("sent");
  return texting;
}

let count = 0;
async function say(texting: Texting, text: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  count += 1;
  return texting.text({ from: ADA, to: OURS, text, id: `in-${count}`, ...more });
}

async function answers(texting: Texting, project = texting.project): Promise<[number, string | null][]> {
  const rows = await texting.read((tx) => listResponsesJson(tx, project, responsesQuery(), links));
  return rows.map((row) => {
    const { score, comment } = JSON.parse(row) as { score: number; comment: string | null };
    return [score, comment];
  });
}

const replies = (texting: Texting): (string | undefined)[] =>
  texting
    .sent()
    .slice(1)
    .map(({ text }) => text);

const ASK_COMMENT = "You gave us 9. What is the main reason for your score?";
const THANKS = "Thank you for your feedback!";
const ASK_AGAIN = "Please reply with a number from 0 to 10.";
const STOPPED = "Acme: You will get no more messages. Reply START to get them again.";

const suppressions = (texting: Texting, project = texting.project) =>
  texting.read(async (tx) => (await tx.suppressions.list(project.id, "sms", ADA)).map(({ reason }) => reason));

const replyDue = (texting: Texting) =>
  texting.read((tx) => tx.queue.nextDueAt([{ channel: "reply", withPaused: true }]));

const jwtPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const keep = (texting: Texting, provider: SigningGateway, key: string) =>
  texting.write((tx) => setHookKey(tx, provider, key));

describe("the conversation", () => {
  it("when a person texts a score and then a comment, then both are the answer, and no link was needed", async () => {
    const texting = await asked();
    expect(texting.sent()[0]?.text).toBe(
      "How likely are you to recommend us to a friend?\nAcme: Please reply with a number from 0 to 10. Reply STOP to opt out.",
    );
    expect(await say(texting, "9")).toBe("204");
    await expect.poll(() => replies(texting), SOON).toEqual([ASK_COMMENT]);
    expect(await say(texting, "The staff!\nAlways.")).toBe("204");
    await expect.poll(() => replies(texting), SOON).toEqual([ASK_COMMENT, THANKS]);
    expect(await answers(texting)).toEqual([[9, "The staff!\nAlways."]]);
    expect(texting.sent().map(({ to }) => to)).toEqual([ADA, ADA, ADA]);
    const today = new Date(texting.clock.now()).toISOString().slice(0, 10);
    const segments = () => texting.read((tx) => tx.texts.segmentsOn(texting.project.id, today));
    await expect.poll(segments, SOON).toBe(3);
  });

  it("when score and comment come in one text, then thanks follow; another number changes the score in silence", async () => {
    const texting = await asked({}, { locale: "de", thank_you_message: "Danke, Ada!" });
    await say(texting, "9 great service");
    await expect.poll(() => replies(texting), SOON).toEqual(["Danke, Ada!"]);
    await say(texting, "sorry, 7");
    expect(await answers(texting)).toEqual([[7, "great service"]]);
    await say(texting, "3 visits and always friendly");
    expect(await answers(texting)).toEqual([[7, "great service\n3 visits and always friendly"]]);
    texting.clock.advance(DAY_MS);
    await say(texting, "and nobody answers");
    const comment = "great service\n3 visits and always friendly\nand nobody answers";
    expect(await answers(texting)).toEqual([[7, comment]]);
    for (const text of ["you are welcome", "and nobody answers"]) await say(texting, text);
    expect(await answers(texting)).toEqual([[7, comment]]);
    expect(replies(texting)).toEqual(["Danke, Ada!"]);
  });

  it("keeps the comment of the page, and its score", async () => {
    const texting = await asked();
    const [survey] = await texting.read((tx) => tx.texts.surveysTo(ADA, 0));
    const given = { score: 9, comment: "from the page", by: "button" } as const;
    await texting.write((tx) => answerSurvey(tx, survey!.token, given, DAY_MS));
    await say(texting, "3 visits and always friendly");
    expect(await answers(texting)).toEqual([[9, "from the page\n3 visits and always friendly"]]);
  });

  it("stores neither tapbacks nor quotes", async () => {
    const texting = await asked();
    const question = texting.sent()[0]?.text ?? "";
    await say(texting, `Loved “${question}”`);
    await say(texting, `> ${question.replaceAll("\n", "\n> ")}\n\n9`);
    await expect.poll(() => replies(texting), SOON).toEqual([ASK_COMMENT]);
    for (const text of [`A adoré « ${ASK_COMMENT} »`, "I'm driving right now.", ASK_COMMENT]) await say(texting, text);
    expect(await answers(texting)).toEqual([[9, null]]);
  });

  it("doesn't ask for a reason that came while the gateway was down", async () => {
    const plan = inTurn(saying(200, "{}"), saying(503, ""), saying(200, "{}"));
    const texting = await asked({ path: "/plan", plans: { "/plan": plan } });
    const texts = () =>
      texting
        .sent("/plan")
        .slice(1)
        .map(({ text }) => text);
    await say(texting, "9");
    await expect.poll(texts, SOON).toEqual([ASK_COMMENT]);
    await expect.poll(() => replyDue(texting), SOON).toBeGreaterThan(texting.clock.now() / 1000);
    await say(texting, "the staff");
    await expect.poll(texts, SOON).toEqual([ASK_COMMENT, THANKS]);
    texting.clock.advance(25_000);
    await expect.poll(() => replyDue(texting), SOON).toBeNull();
    expect(texts()).toEqual([ASK_COMMENT, THANKS]);
  });

  it("when a text has no score, then a number is asked for once", async () => {
    const texting = await asked();
    for (const text of ["100", "9-5 open?", "I give it nine"]) await say(texting, text);
    await expect.poll(() => replies(texting), SOON).toEqual([ASK_AGAIN]);
    expect(await answers(texting)).toEqual([]);
  });

  it("when the survey is older than two weeks, or the number was never asked, then nothing is answered", async () => {
    const texting = await asked();
    expect(await say(texting, "9", { from: "+4917099999999" })).toBe("204");
    expect(await say(texting, "9", { to: "+4930222" })).toBe("204");
    texting.clock.advance(15 * DAY_MS);
    expect(await say(texting, "9")).toBe("204");
    expect([await answers(texting), replies(texting)]).toEqual([[], []]);
  });

  it("when two projects have asked the same number, then a text is about the newest survey", async () => {
    const texting = await asked();
    const other = await texting.write((tx) => addProject(tx, "other"));
    texting.clock.advance(60_000);
    await texting.write((tx) => sendPerson(tx, other, sendInput({ phoneNumber: ADA, channel: "sms" })));
    await texting.ask("+4917099999999");
    await expect.poll(() => texting.sent().length, SOON).toBe(3);
    await expect
      .poll(async () => (await texting.read((tx) => tx.deliveries.counts())).map(({ state }) => state), SOON)
      .toEqual(["sent", "sent"]);
    await say(texting, "8");
    expect([await answers(texting), await answers(texting, other)]).toEqual([[], [[8, null]]]);
  });

  it("when a gateway brings a text again, then it is answered the same and counts once", async () => {
    const texting = await asked();
    const twice = { id: "same" };
    expect([await say(texting, "9 fine", twice), await say(texting, "9 fine", twice)]).toEqual(["204", "204"]);
    await say(texting, "4");
    await say(texting, "9 fine", twice);
    await expect.poll(() => replies(texting), SOON).toEqual([THANKS]);
    expect(await answers(texting)).toEqual([[4, "fine"]]);
  });

  it("when a long text comes in parts, in any order, then they are one", async () => {
    const texting = await asked();
    const part = (n: number, text: string) =>
      texting.text({
        msisdn: ADA.slice(1),
        to: OURS.slice(1),
        text,
        messageId: `part-${n}`,
        concat: "true",
        "concat-ref": "1",
        "concat-total": "3",
        "concat-part": String(n),
      });
    expect([await part(3, "service"), await part(1, "9 what "), await part(2, "a ")]).toEqual(["204", "204", "204"]);
    expect(await answers(texting)).toEqual([[9, "what a service"]]);
  });

  it("when a reply is lost on its way, then it is not sent again; when it is refused for now, it is", async () => {
    const plan = inTurn(saying(200, "{}"), saying(503, ""), saying(200, "{}"), lost);
    const texting = await asked({ path: "/plan", plans: { "/plan": plan } });
    const texts = () =>
      texting
        .sent("/plan")
        .slice(1)
        .map(({ text }) => text);
    await say(texting, "9");
    await expect.poll(texts, SOON).toEqual([ASK_COMMENT]);
    await expect.poll(() => replyDue(texting), SOON).toBeGreaterThan(texting.clock.now() / 1000);
    texting.clock.advance(25_000);
    await expect.poll(texts, SOON).toEqual([ASK_COMMENT, ASK_COMMENT]);
    await say(texting, "kind");
    await expect.poll(texts, SOON).toEqual([ASK_COMMENT, ASK_COMMENT, THANKS]);
    await new Promise((resolve) => void setTimeout(resolve, 30));
    texting.clock.advance(600_000);
    await new Promise((resolve) => void setTimeout(resolve, 30));
    expect(texts()).toEqual([ASK_COMMENT, ASK_COMMENT, THANKS]);
    expect(await texting.store.check()).toEqual([]);
  });
});

it("when it is unknown whether a survey has arrived, then any text about it proves that it has", async () => {
  const texting = await start({ path: "/plan", plans: { "/plan": inTurn(lost, saying(200, "{}")) } });
  await texting.ask(ADA);
  await expect.poll(() => texting.stateOf(ADA), SOON).toBe("unknown | 1 | - | unknown");
  await say(texting, "Who is this?");
  expect(await texting.stateOf(ADA)).toBe("sent | 1 | - | unknown");
});

it("when a person is deleted, then parts of their texts and replies to them go with them, and STOP stays", async () => {
  const texting = await asked({ limits: { daily: 1 } });
  const half = { "concat-ref": "1", "concat-total": "2", "concat-part": "1" };
  await texting.text({ msisdn: ADA, text: "9 half of a", messageId: "half", ...half });
  await say(texting, "STOP");
  await texting.write((tx) => deletePerson(tx, texting.project, { by: "phone_number", phoneNumber: ADA }));
  await texting.store.settle();
  const other = { reference: "1", number: 2, total: 2 };
  expect(await texting.write((tx) => tx.texts.joinPart(ADA, other, "text"))).toBeNull();
  expect(await suppressions(texting)).toEqual(["stop"]);
  expect(await texting.read((tx) => tx.queue.nextDueAt([{ channel: "reply", withPaused: true }]))).toBeNull();
  const { explanation } = await texting.read((tx) => explainPerson(tx, texting.project, ADA));
  expect(explanation).toBe("No text messages: this number has asked for no more.");
});

describe("no more", () => {
  it("when a wish is unclear, then the reply says how to stop, never a number, and the log has a line", async () => {
    const texting = await asked();
    for (const text of ["STOP this bill", "make it stop somehow"]) await say(texting, text);
    await expect.poll(() => replies(texting), SOON).toEqual(["Acme: Reply STOP to opt out."]);
    expect([await suppressions(texting), await answers(texting)]).toEqual([[], []]);
    expect(texting.logged()).toMatch(/"event":"sms_unclear".*"sender":"…678"/);
    expect(texting.logged()).not.toContain(ADA.slice(1));
  });

  it("when a comment begins with STOP, then it is kept, and the thanks say how to stop", async () => {
    const texting = await asked();
    for (const text of ["9", "STOP this bill"]) await say(texting, text);
    await expect.poll(() => replies(texting).at(-1), SOON).toBe(`${THANKS} Reply STOP to opt out.`);
    expect([await suppressions(texting), await answers(texting)]).toEqual([[], [[9, "STOP this bill"]]]);
  });

  it("when everyday words say so, then nothing more is sent", async () => {
    const texting = await asked();
    await say(texting, "Please stop sending text reminders");
    await expect.poll(() => replies(texting), SOON).toEqual([STOPPED]);
    expect(await suppressions(texting)).toEqual(["stop"]);
  });

  it("when a person texts STOP, then nothing more is sent to the number, and START undoes it", async () => {
    const texting = await asked();
    await texting.write((tx) =>
      addMember(tx, texting.project, memberInput({ platform: "sms", personPhoneNumber: ADA })),
    );
    await say(texting, "9");
    await say(texting, "Stop. Thank you");
    await say(texting, "STOP");
    await expect.poll(() => replies(texting).at(-1), SOON).toBe(STOPPED);
    expect(replies(texting).filter((text) => text === STOPPED)).toHaveLength(1);
    expect([await suppressions(texting), await answers(texting)]).toEqual([["stop"], [[9, null]]]);
    await texting.ask(ADA);
    const waiting = () =>
      texting.read(async (tx) => (await tx.people.byPhone(texting.project.id, ADA))?.nextSurveyAt ?? null);
    expect(await waiting()).toBeNull();
    await say(texting, "START");
    await expect.poll(() => replies(texting).at(-1), SOON).toBe("You are subscribed again.");
    expect([await suppressions(texting), await waiting()]).toEqual([[], expect.any(Number)]);
  });

  it("when the provider answers STOP itself, then we do not; in words that it does not know, we do", async () => {
    const twilio = { format: "twilio", from: OURS } as const;
    const texting = await asked({ gateway: twilio, plans: { "/ok": saying(201, '{"sid":"SM1"}') } });
    const from = (Body: string, MessageSid: string) => texting.text({ From: ADA, To: OURS, Body, MessageSid });
    expect(await from("STOP", "SM2")).toBe('200 <?xml version="1.0" encoding="UTF-8"?><Response/>');
    expect(await suppressions(texting)).toEqual(["stop"]);
    await from("HELP", "SM3");
    await from("START", "SM4");
    expect(await suppressions(texting)).toEqual([]);
    await from("Arrêt, merci", "SM5");
    await expect
      .poll(
        () =>
          texting
            .sent()
            .slice(1)
            .map(({ Body }) => Body),
        SOON,
      )
      .toEqual([STOPPED]);
  });

  it("when somebody asks who writes, then they are told, once a day", async () => {
    const texting = await asked();
    for (const text of ["HELP", "info?", "help"]) await say(texting, text);
    const help = texting.sent()[0]?.text?.split("\n")[1];
    await expect.poll(() => replies(texting), SOON).toEqual([help]);
    texting.clock.advance(DAY_MS);
    await say(texting, "HELP");
    await expect.poll(() => replies(texting), SOON).toEqual([help, help]);
  });

  it("when nobody knows the number, then STOP still holds for it, in every project", async () => {
    const texting = await start();
    const other = await texting.write((tx) => addProject(tx, "other"));
    expect(await say(texting, "STOP")).toBe("204");
    expect([await suppressions(texting), await suppressions(texting, other)]).toEqual([["stop"], ["stop"]]);
    expect(texting.gateway.received).toEqual([]);
  });
});

it.each([
  ["a form whose type is in capitals", "Application/X-WWW-Form-URLencoded", `From=%2B${ADA.slice(1)}&Body=9`],
  ["a form with a byte order mark", "application/x-www-form-urlencoded", `\uFEFFfrom=%2B${ADA.slice(1)}&text=9`],
  ["JSON with a byte order mark", "application/json", `\uFEFF${JSON.stringify({ from: ADA, text: "9" })}`],
])("when a gateway sends %s, then its text is read", async (_, type, body) => {
  const texting = await asked();
  expect(await texting.text({}, { headers: { "content-type": type }, body })).toBe("204");
  expect(await answers(texting)).toEqual([[9, null]]);
});

const UNREADABLE = `400 {"status":400,"message":"Bad Request: the sender's phone number cannot be read"}`;
const LONDON = "+442079460018";

it.each([
  ["020 7946 0018", ["+44"]],
  ["020 7946 0018", ["+1", "+44"]],
  ["+44 (0)20 7946 0018", null],
  ["0044 20 7946 0018", null],
  ["44 20 7946 0018", ["+44"]],
  ["tel:+44-20-7946-0018", null],
  ["tel:+44-20-7946-0018;ext=1", null],
  ["whatsapp:+442079460018", null],
])("a sender written as %j is read with countries %j", async (from, countries) => {
  const texting = await start({ limits: { countries } });
  await texting.ask(LONDON);
  await expect.poll(() => texting.stateOf(LONDON), SOON).toContain("sent");
  expect(await say(texting, "9", { from, to: "tel:+49-30-111" })).toBe("204");
  expect(await answers(texting)).toEqual([[9, null]]);
});

it.each([
  ["(415) 555-0301", "+14155550301", "204"],
  ["4155550301", "+14155550301", "204"],
  ["07700 900301", "+447700900301", UNREADABLE],
])("with texts to the US and Germany, a sender written as %j answers for %s: %s", async (from, number, answer) => {
  const texting = await start({ limits: { countries: ["+1", "+49", "+43"] } });
  await texting.ask(number);
  expect(await say(texting, "STOP", { from })).toBe(answer);
  expect(await texting.read(async (tx) => (await tx.suppressions.list(texting.project.id, "sms", number)).length)).toBe(
    answer === "204" ? 1 : 0,
  );
});

describe("whose texts are believed", () => {
  const TOKEN = "0123456789abcdef0123456789abcdef";
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("base64");
  const FORBIDDEN = '403 {"status":403,"message":"Forbidden: the signature is not valid"}';

  it("when Twilio's token is kept, then only what it signed is taken", async () => {
    const texting = await asked();
    await keep(texting, "twilio", TOKEN);
    const fields = { From: ADA, To: OURS, Body: "9 & more", MessageSid: "SM1" };
    const secret = await texting.read((tx) => tx.secrets.read("report sms"));
    const text = `${APP_URL}/hooks/sms/${secret}Body9 & moreFrom${ADA}MessageSidSM1To${OURS}`;
    const headers = {
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      "x-twilio-signature": createHmac("sha1", TOKEN).update(text).digest("base64"),
    };
    expect(await texting.text({ ...fields, Body: "1" }, { headers })).toBe(FORBIDDEN);
    expect(await say(texting, "1")).toBe(FORBIDDEN);
    expect(await texting.text(fields, { headers })).toContain("<Response/>");
    expect(await answers(texting)).toEqual([[9, "& more"]]);
  });

  it("when Vonage signs, by whatever method, then its texts are taken by GET and by POST", async () => {
    const texting = await asked();
    await keep(texting, "vonage", "signature-secret");
    const taken: string[] = [];
    for (const method of ["md5 hash", "md5", "sha1", "sha256", "sha512"]) {
      const fields = {
        messageId: method,
        msisdn: ADA.slice(1),
        text: "9 a=b&c",
        timestamp: "1750000000",
        to: "4930111",
      };
      const text = Object.entries(fields)
        .map(([name, value]) => `&${name}=${value.replaceAll(/[&=]/g, "_")}`)
        .join("");
      const sig =
        method === "md5 hash"
          ? createHash("md5").update(`${text}signature-secret`).digest("hex")
          : createHmac(method, "signature-secret").update(text).digest("hex");
      const query = new URLSearchParams({ ...fields, sig: sig.toUpperCase() }).toString();
      taken.push(
        await texting.text({}, { method: "GET", query: query.replace("text=9", "text=8") }),
        await texting.text({}, { method: "GET", query }),
        await texting.text({ ...fields, sig }),
      );
    }
    expect(taken).toEqual(Array.from({ length: 5 }, () => [FORBIDDEN, "204", "204"]).flat());
    expect(await answers(texting)).toEqual([[9, "a=b&c"]]);
  });

  it("when Vonage brings a token, then the text is taken that the token is for, while it is fresh", async () => {
    const texting = await asked();
    await keep(texting, "vonage", "signature-secret");
    const now = Math.floor(texting.clock.now() / 1000);
    const message = { message_uuid: "V1", channel: "sms", message_type: "text", from: ADA.slice(1), to: OURS.slice(1) };
    const body = JSON.stringify({ ...message, text: "9 by token" });
    const payloadHash = createHash("sha256").update(body).digest("hex");
    const post = ({ alg = "HS256", secret = "signature-secret", said = body, claims = {} } = {}): Promise<string> => {
      const text = `${jwtPart({ alg, typ: "JWT" })}.${jwtPart({ iss: "Vonage", iat: now, payload_hash: payloadHash, ...claims })}`;
      const token = `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      return texting.text({}, { headers, body: said });
    };
    const refused = [
      await post({ secret: "another-secret" }),
      await post({ alg: "none" }),
      await post({ said: body.replace("9 by", "1 by") }),
      await post({ claims: { payload_hash: undefined } }),
      await post({ claims: { iat: now - 90_000 } }),
      await post({ claims: { iat: now + 900 } }),
      await post({ claims: { exp: now - 1 } }),
      await texting.text({}, { headers: { "content-type": "application/json", authorization: "Bearer x" }, body }),
    ];
    expect(refused).toEqual(refused.map(() => FORBIDDEN));
    expect(await post()).toBe("204");
    expect(await answers(texting)).toEqual([[9, "by token"]]);
  });

  it("when Telnyx signs, then its texts are taken while they are fresh", async () => {
    const texting = await asked();
    await keep(texting, "telnyx", raw);
    const payload = { id: "T1", text: "9", from: { phone_number: ADA }, to: [{ phone_number: OURS }] };
    const body = JSON.stringify({ data: { event_type: "message.received", payload } });
    const post = (at: number, signed = body) => {
      const signature = sign(null, Buffer.from(`${at}|${signed}`), privateKey).toString("base64");
      const headers = {
        "content-type": "application/json",
        "telnyx-timestamp": String(at),
        "telnyx-signature-ed25519": signature,
      };
      return texting.text({}, { headers, body });
    };
    const now = Math.floor(texting.clock.now() / 1000);
    expect(await post(now - 400)).toBe(FORBIDDEN);
    expect(await post(now, body.replace("9", "1"))).toBe(FORBIDDEN);
    expect(await post(now)).toBe("204");
    expect(await answers(texting)).toEqual([[9, null]]);
  });

  it("when a request is no text that we know, then its answer says so, and nothing is stored", async () => {
    const requests: readonly (readonly [string, Parameters<Texting["text"]>, string])[] = [
      ["another secret", [{ from: ADA, text: "9" }, { secret: "x".repeat(43) }], "not found"],
      ["another method", [{}, { method: "PUT" }], '405 {"status":405,"message":"Method Not Allowed"}'],
      [
        "a body that is no form",
        [{}, { headers: {}, body: "{" }],
        '400 {"status":400,"message":"Bad Request: this is not a text message"}',
      ],
      ["a very large body", [{ text: "x".repeat(70_000) }], '413 {"status":413,"message":"Payload Too Large"}'],
      ["no number", [{ from: "ACME", text: "9" }], UNREADABLE],
      ["a national number of no known country", [{ from: "07700 900301", text: "9" }], UNREADABLE],
      ["fields that we don't know", [{ number: ADA, words: "9" }], UNREADABLE],
      [
        "no text, as a receipt",
        [{ From: ADA, MessageSid: "SM1", MessageStatus: "sent" }],
        '200 <?xml version="1.0" encoding="UTF-8"?><Response/>',
      ],
      ["a lost plus sign", [{ from: ` ${ADA.slice(1)}`, text: "9" }], "204"],
    ];
    const texting = await asked();
    const got: string[] = [];
    for (const [what, request] of requests) got.push(`${what}: ${await texting.text(...request)}`);
    expect(got).toEqual(requests.map(([what, , answer]) => `${what}: ${answer}`));
    // Only the last request is a readable answer.
    expect(await answers(texting)).toEqual([[9, null]]);
    expect(texting.logged()).toMatch(/"event":"sms_unreadable".*"sender":"##### ######"/);
  });
});
