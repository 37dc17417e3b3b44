import { mkdtemp, readFile, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { SmtpTransport, type SmtpTransportOptions } from "../../../../src/service/delivery/smtp/smtp-transport.ts";
import type { CarrierProgress } from "../../../../src/service/delivery/carrier.ts";
import type { SmtpMessage, SmtpResult } from "../../../../src/service/delivery/smtp/smtp-types.ts";
import { parseSmtpUrl } from "../../../../src/service/delivery/smtp/smtp-url.ts";
import { startRawSmtp, type RawSmtpOptions, type RawSmtpStub } from "../../../helpers/raw-smtp-stub.ts";
import { startPlanServer, type SmtpPlanOptions, type SmtpPlanServer } from "../../../helpers/smtp-plan-server.ts";

const TLS = path.join(import.meta.dirname, "../../../fixtures/tls");
const KEY = readFileSync(path.join(TLS, "key.pem"));
const CERTIFICATE = readFileSync(path.join(TLS, "cert.pem"), "utf8");
const EXPIRED = readFileSync(path.join(TLS, "expired.pem"), "utf8");
const QUICK = {
  connect: 2000,
  greeting: 300,
  command: 300,
  afterDot: 400,
  idle: 2000,
  quit: 200,
  drainPastDot: 200,
};

const open: { stop?: () => Promise<void>; close?: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await (each.close?.() ?? each.stop?.());
});

function connectTo(
  port: number,
  { url = `smtp://127.0.0.1:${port}`, ...rest }: Partial<SmtpTransportOptions> & { url?: string } = {},
): SmtpTransport {
  const transport = new SmtpTransport({
    server: parseSmtpUrl(url),
    certificates: null,
    connections: 1,
    clock: systemClock,
    timeouts: QUICK,
    ...rest,
  });
  open.push(transport);
  return transport;
}

async function plan(options?: SmtpPlanOptions): Promise<SmtpPlanServer> {
  const server = await startPlanServer(options);
  open.push(server);
  return server;
}

async function raw(options?: RawSmtpOptions): Promise<RawSmtpStub> {
  const stub = await startRawSmtp(options);
  open.push(stub);
  return stub;
}

let count = 0;
const mail = (local: string, more: Partial<SmtpMessage> = {}): SmtpMessage => {
  count += 1;
  const to = `${local}@example.org`;
  const bytes = Buffer.from(`Message-ID: <${count}@test>\r\nTo: ${to}\r\n\r\nHello\r\n`);
  return { from: "us@example.com", to, bytes, needsSmtpUtf8: false, ...more };
};

function agree(more: Partial<CarrierProgress> = {}): CarrierProgress & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    mayStillSend: () => {
      asked.push("may still send");
      return more.mayStillSend?.() ?? Promise.resolve(true);
    },
    transmitting: () => {
      asked.push("transmitting");
      return more.transmitting?.() ?? Promise.resolve();
    },
  };
}

function timeless(result: SmtpResult): unknown {
  if (result.kind === "withdrawn") return result;
  expect(result.reply.ms).toBeGreaterThanOrEqual(0);
  const { ms: _ms, host, ...reply } = result.reply;
  expect(["127.0.0.1", "localhost"]).toContain(host);
  return { ...result, reply };
}

const refused = (stage: string, code: number, enhancedCode: string | null, text: string): unknown => ({
  kind: "refused",
  reply: { stage, code, enhancedCode, text, serverId: null },
});
const broken = (stage: string, text: string, isPastDot = false): unknown => ({
  kind: "broken",
  reply: { stage, code: null, enhancedCode: null, text, serverId: null },
  isPastDot,
});
const accepted = (text: string, serverId: string, enhancedCode: string | null = "2.0.0"): unknown => ({
  kind: "accepted",
  reply: { stage: "final-dot", code: 250, enhancedCode, text, serverId },
});

describe("what the server says", () => {
  it.each<[string, SmtpPlanOptions, unknown, string[]]>([
    ["ok", {}, accepted("Ok: queued as 1", "1"), ["may still send", "transmitting"]],
    ["450", {}, refused("rcpt-to", 450, "4.2.0", "Try again later"), ["may still send"]],
    ["421", {}, refused("rcpt-to", 421, "4.3.2", "Closing the connection, try again later"), ["may still send"]],
    ["550-5.1.1", {}, refused("rcpt-to", 550, "5.1.1", "The address does not exist"), ["may still send"]],
    ["550", {}, refused("rcpt-to", 550, null, "Refused"), ["may still send"]],
    [
      "550-5.7.1-spamhaus",
      {},
      refused("rcpt-to", 550, "5.7.1", "Service unavailable; client host blocked using zen.spamhaus.org"),
      ["may still send"],
    ],
    ["452-daily", {}, refused("rcpt-to", 452, "4.5.3", "Daily message limit exceeded"), ["may still send"]],
    ["552", {}, refused("final-dot", 552, "5.3.4", "Message too large"), ["may still send", "transmitting"]],
    ["dot-451-4.7.1", {}, refused("final-dot", 451, "4.7.1", "Refused"), ["may still send", "transmitting"]],
  ])(
    "when the plan is %s, then the outcome has its stage, its codes and its words",
    async (local, options, outcome, asked) => {
      for (const hidePIPELINING of [false, true]) {
        const server = await plan({ ...options, server: { hidePIPELINING } });
        const progress = agree();
        expect(timeless(await connectTo(server.port).send(mail(local), progress))).toEqual(outcome);
        expect(progress.asked).toEqual(asked);
      }
    },
  );

  it("when it refuses the login, then nothing is sent and the password is nowhere", async () => {
    const server = await plan({ credentials: { user: "me", password: "right" } });
    const transport = connectTo(server.port, { url: `smtp://me:wr%40ng-secret@127.0.0.1:${server.port}` });
    const progress = agree();
    expect(timeless(await transport.send(mail("ok"), progress))).toEqual(
      refused("auth", 535, "5.7.8", "Wrong user name or password"),
    );
    expect([progress.asked, server.logins()]).toEqual([[], 1]);
  });

  it("when it repeats the password, then the reply has stars", async () => {
    const login = Buffer.from("\0me\0wr@ng-secret").toString("base64");
    const stub = await raw({ offers: ["AUTH PLAIN"], replies: { AUTH: `535 no: ${login} is wr@ng-secret` } });
    const transport = connectTo(stub.port, { url: `smtp://me:wr%40ng-secret@127.0.0.1:${stub.port}` });
    expect(timeless(await transport.send(mail("ok"), agree()))).toEqual(refused("auth", 535, null, "no: *** is ***"));
    expect(stub.lines.slice(1)).toEqual([`AUTH PLAIN ${login}`]);
  });

  it.each<[string, RawSmtpOptions, unknown]>([
    ["refuses at the greeting", { greeting: "554 5.7.1 No" }, refused("connect", 554, "5.7.1", "No")],
    [
      "greets in another language",
      { greeting: "HTTP/1.1 400 Bad" },
      broken("connect", "unexpected reply: HTTP/1.1 400 Bad"),
    ],
    ["never greets", { greeting: null }, broken("connect", "timed out after 0.3 s waiting for the greeting")],
    [
      "refuses EHLO and HELO",
      { replies: { EHLO: "500 no", HELO: "550 go away" } },
      refused("ehlo", 550, null, "go away"),
    ],
    [
      "never answers EHLO",
      { replies: { EHLO: null } },
      broken("ehlo", "timed out after 0.3 s waiting for the reply to EHLO"),
    ],
    [
      "refuses the sender",
      { replies: { MAIL: "550-5.7.1 Not\r\n550 5.7.1 you" } },
      refused("mail-from", 550, "5.7.1", "Not you"),
    ],
    ["drops at MAIL FROM", { replies: { MAIL: "drop" } }, broken("mail-from", "the server closed the connection")],
    ["refuses DATA", { replies: { DATA: "451 4.3.0 full" } }, refused("data", 451, "4.3.0", "full")],
    [
      "never answers DATA",
      { replies: { DATA: null } },
      broken("data", "timed out after 0.3 s waiting for the reply to DATA"),
    ],
    ["says 421 to DATA", { replies: { DATA: "421 4.3.2 bye" } }, refused("data", 421, "4.3.2", "bye")],
    [
      "writes binary",
      { replies: { MAIL: "550 5.0.0 \x1b[31mred\x07" } },
      refused("mail-from", 550, "5.0.0", "[31mred"),
    ],
  ])("when it %s, then that is the outcome", async (_, options, outcome) => {
    for (const offers of [[], ["PIPELINING"]]) {
      const stub = await raw({ ...options, offers });
      const progress = agree();
      expect(timeless(await connectTo(stub.port).send(mail("ok"), progress))).toEqual(outcome);
      expect([stub.dots, progress.asked.includes("transmitting")]).toEqual([[], false]);
    }
  });

  it("when nobody listens, then the connection is broken", async () => {
    const stub = await raw();
    await stub.stop();
    expect(timeless(await connectTo(stub.port).send(mail("ok"), agree()))).toEqual(
      broken("connect", "the server refused the connection"),
    );
  });
});

describe("the final dot", () => {
  it("when the mark is not durable yet, then the server has no dot", async () => {
    const stub = await raw();
    let mark: (() => void) | undefined;
    const marked = new Promise<void>((resolve) => (mark = resolve));
    let isAsked: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const sending = connectTo(stub.port).send(mail("ok"), agree({ transmitting: () => (isAsked?.(), marked) }));
    await asked;
    // Longer than the command timeout: waiting for the caller's disk must not count as an SMTP timeout.
    await systemClock.sleep(400);
    expect(stub.dots).toEqual([]);
    mark?.();
    expect((await sending).kind).toBe("accepted");
    expect(stub.dots).toHaveLength(1);
  });

  it("when the mark cannot be written, then the dot is never sent and the caller gets the error", async () => {
    const stub = await raw();
    const transport = connectTo(stub.port);
    const failure = Object.assign(new Error("disk full"), { code: "ENOSPC" });
    await expect(transport.send(mail("ok"), agree({ transmitting: () => Promise.reject(failure) }))).rejects.toBe(
      failure,
    );
    expect(failure.code).toBe("ENOSPC");
    expect((await transport.send(mail("ok"), agree())).kind).toBe("accepted");
    expect([stub.dots.length, stub.connections()]).toEqual([1, 2]);
  });

  it("when the server closes while the mark is written, then no dot is sent", async () => {
    const stub = await raw({ inMessage: "drop" });
    const progress = agree({ transmitting: () => systemClock.sleep(100) });
    expect(timeless(await connectTo(stub.port).send(mail("ok"), progress))).toEqual(
      broken("data", "the server closed the connection"),
    );
    expect(stub.dots).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["552 5.3.4 too much", refused("data", 552, "5.3.4", "too much")],
    ["250 2.0.0 taken", broken("data", "the server replied before the message ended")],
  ])("when the server says %s in the middle, then the message is cut off there", async (inMessage, outcome) => {
    const stub = await raw({ inMessage });
    const transport = connectTo(stub.port);
    const progress = agree({ transmitting: () => systemClock.sleep(100) });
    expect(timeless(await transport.send(mail("ok"), progress))).toEqual(outcome);
    await transport.close();
    expect([stub.dots, stub.lines.includes("QUIT")]).toEqual([[], false]);
  });

  it.each<[string, RawSmtpOptions, unknown, limitMs?: number]>([
    ["drops the connection", { afterDot: "drop" }, broken("final-dot", "the server closed the connection", true)],
    [
      "never replies",
      { afterDot: null },
      broken("final-dot", "timed out after 0.4 s waiting for the reply to the message", true),
    ],
    [
      "replies after the limit",
      { replyDelayMs: 500 },
      broken("final-dot", "timed out after 0.4 s waiting for the reply to the message", true),
    ],
    // Longer than the other timeouts.
    ["replies late, but in time", { replyDelayMs: 350 }, accepted("Ok: queued as RAW", "RAW"), 10_000],
    ["refuses", { afterDot: "554 5.7.1 spam" }, refused("final-dot", 554, "5.7.1", "spam")],
    ["closes with 421", { afterDot: "421 4.3.2 down" }, refused("final-dot", 421, "4.3.2", "down")],
    ["says what is no reply", { afterDot: "hello" }, broken("final-dot", "unexpected reply: hello", true)],
  ])(
    "when the server has it and %s, then that is the outcome",
    async (_, options, outcome, afterDot = QUICK.afterDot) => {
      const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-smtp-"));
      const journal = path.join(folder, "dots.txt");
      const stub = await raw({ ...options, journal });
      const message = mail("ok");
      const transport = connectTo(stub.port, { timeouts: { ...QUICK, afterDot } });
      expect(timeless(await transport.send(message, agree()))).toEqual(outcome);
      expect(await readFile(journal, "utf8")).toBe(`<${count}@test>\n`);
      await rm(folder, { recursive: true });
    },
  );

  it("when a line of the message is a dot or ends without CR, then what arrives is one message with all its lines", async () => {
    const stub = await raw();
    const text = "Message-ID: <dots@test>\n\n.\n..\n\n.\nMAIL FROM:<evil@x>\r.\rlast\n.";
    await connectTo(stub.port).send(mail("ok", { bytes: Buffer.from(text) }), agree());
    expect(stub.messages).toEqual([
      "Message-ID: <dots@test>\r\n\r\n..\r\n...\r\n\r\n..\r\nMAIL FROM:<evil@x>\r\n..\r\nlast\r\n..",
    ]);
    expect(stub.lines.filter((line) => line.startsWith("MAIL"))).toEqual(["MAIL FROM:<us@example.com>"]);
    const server = await plan();
    await connectTo(server.port).send(mail("ok", { bytes: Buffer.from(text) }), agree());
    expect(server.accepted.map((each) => each.text)).toEqual([`${text.replaceAll(/\r|\n/g, "\r\n")}\r\n`]);
  });

  it("when a message is large, then all of it is there before the mark", async () => {
    const stub = await raw();
    const bytes = Buffer.from(`Message-ID: <large@test>\r\n\r\n${"line\r\n".repeat(200_000)}`);
    expect((await connectTo(stub.port, { timeouts: {} }).send(mail("ok", { bytes }), agree())).kind).toBe("accepted");
    expect(stub.messages[0]).toBe(bytes.toString().slice(0, -2));
  });
});

describe("addresses", () => {
  it("when the server supports SMTPUTF8, then an address of other letters is sent", async () => {
    const server = await plan();
    const message = mail("ok+żółw", { needsSmtpUtf8: true });
    expect((await connectTo(server.port).send(message, agree())).kind).toBe("accepted");
    expect(server.accepted.map(({ to }) => to)).toEqual(["ok+żółw@example.org"]);
  });

  it.each<[string, Partial<SmtpMessage>, string]>([
    ["needs SMTPUTF8", { needsSmtpUtf8: true }, "the address needs SMTPUTF8, which the server does not support"],
    ["has other letters", { to: "jörg@x.org" }, "the address needs SMTPUTF8, which the server does not support"],
    ["has a line break", { to: "a@x.org>\r\nDATA" }, "the address cannot be sent"],
    ["is empty", { to: "" }, "the address cannot be sent"],
    ["is larger than SIZE", { bytes: Buffer.alloc(101, "a") }, "the message has 101 bytes, and the server takes 100"],
  ])(
    "when the message %s and the server cannot, then it is unsendable and the connection goes on",
    async (_, more, text) => {
      const stub = await raw({ offers: ["SIZE 100"] });
      const transport = connectTo(stub.port);
      const progress = agree();
      expect(timeless(await transport.send(mail("ok", more), progress))).toEqual({
        kind: "unsendable",
        reply: { stage: "mail-from", code: null, enhancedCode: null, text, serverId: null },
      });
      expect(progress.asked).toEqual([]);
      expect((await transport.send(mail("ok"), agree())).kind).toBe("accepted");
      expect([stub.connections(), stub.dots.length]).toEqual([1, 1]);
    },
  );
});

describe("TLS", () => {
  const login = { user: "me", password: "secret" };

  it.each<[string, SmtpPlanOptions["tls"], string]>([
    ["smtps", "implicit", "smtps"],
    ["STARTTLS", "starttls", "smtp"],
  ])("when the authority is given, then %s works", async (_, tls, scheme) => {
    const server = await plan({ ...(tls === undefined ? {} : { tls }), credentials: login });
    const url = `${scheme}://me:secret@localhost:${server.port}`;
    const transport = connectTo(server.port, { url, certificates: CERTIFICATE });
    expect(timeless(await transport.send(mail("ok"), agree()))).toEqual(accepted("Ok: queued as 1", "1"));
  });

  it.each<[string, "implicit" | "starttls", string, string, string | null]>([
    ["self-signed", "implicit", CERTIFICATE, "self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)", null],
    ["self-signed", "starttls", CERTIFICATE, "self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)", null],
    ["expired", "implicit", EXPIRED, "certificate has expired (CERT_HAS_EXPIRED)", EXPIRED],
    ["expired", "starttls", EXPIRED, "certificate has expired (CERT_HAS_EXPIRED)", EXPIRED],
  ])("when the certificate is %s, then %s is not gone on with", async (_, tls, cert, problem, certificates) => {
    const stub = await raw({ offers: ["STARTTLS"], tls: { key: KEY, cert, isImplicit: tls === "implicit" } });
    const url = `${tls === "implicit" ? "smtps" : "smtp"}://me:secret@localhost:${stub.port}`;
    expect(timeless(await connectTo(stub.port, { url, certificates }).send(mail("ok"), agree()))).toEqual(
      broken("starttls", `certificate not accepted: ${problem}`),
    );
    expect(stub.lines.filter((line) => !/^(?:EHLO|STARTTLS)/.test(line))).toEqual([]);
  });

  it("when STARTTLS was stripped, then the password is not sent", async () => {
    const stub = await raw({ offers: ["AUTH PLAIN"] });
    const server = { ...parseSmtpUrl("smtp://me:secret@mail.example"), host: "127.0.0.1", port: stub.port };
    expect(timeless(await connectTo(stub.port, { server }).send(mail("ok"), agree()))).toEqual(
      refused("starttls", 502, "5.5.1", "not implemented"),
    );
    expect(stub.lines.slice(1)).toEqual(["STARTTLS"]);
  });

  it("when the server offers no AUTH, then the credentials stay here", async () => {
    const stub = await raw();
    const transport = connectTo(stub.port, { url: `smtp://me:secret@127.0.0.1:${stub.port}` });
    expect(timeless(await transport.send(mail("ok"), agree()))).toEqual({
      kind: "refused",
      reply: { stage: "auth", code: null, enhancedCode: null, text: "the server does not offer AUTH", serverId: null },
    });
    expect(stub.lines.slice(1)).toEqual(["QUIT"]);
  });

  it("when a server speaks plain on the port of smtps, then the handshake fails", async () => {
    const stub = await raw();
    const result = await connectTo(stub.port, { url: `smtps://localhost:${stub.port}` }).send(mail("ok"), agree());
    expect(result).toMatchObject({ kind: "broken", isPastDot: false, reply: { stage: "starttls", code: null } });
  });
});

describe("connections", () => {
  it("when many messages go out, then so many connections share them, with RSET in between", async () => {
    const server = await plan();
    const transport = connectTo(server.port, { connections: 3 });
    const sent = Array.from({ length: 60 }, (_, at) => mail(`ok+${at}`));
    const results = await Promise.all(sent.map((each) => transport.send(each, agree())));
    expect(results.map(({ kind }) => kind)).toEqual(sent.map(() => "accepted"));
    expect(server.accepted.map(({ to }) => to).toSorted()).toEqual(sent.map(({ to }) => to).toSorted());
    expect([server.connections(), server.peak()]).toEqual([3, 3]);
  });

  it("when a connection has had its messages, then the next begins, and never one too many", async () => {
    const server = await plan();
    const transport = connectTo(server.port, { connections: 2 });
    await Promise.all(Array.from({ length: 210 }, (_, at) => transport.send(mail(`ok+${at}`), agree())));
    const shares = server.accepted.reduce((shared, { connection }) => {
      return shared.set(connection, (shared.get(connection) ?? 0) + 1);
    }, new Map<number, number>());
    expect([server.accepted.length, Math.max(...shares.values()), server.peak()]).toEqual([210, 100, 2]);
  });

  it("when the server closes silently between messages, then each goes out once and none is an attempt lost", async () => {
    const stub = await raw({ messagesPerConnection: 3 });
    const transport = connectTo(stub.port);
    const results = [];
    for (let at = 0; at < 10; at += 1) results.push((await transport.send(mail("ok"), agree())).kind);
    expect(results).toEqual(results.map(() => "accepted"));
    expect([new Set(stub.dots).size, stub.dots.length, stub.connections()]).toEqual([10, 10, 4]);
  });

  it("when a kept connection is half open, then the message goes over another", async () => {
    const stub = await raw();
    const transport = connectTo(stub.port);
    await transport.send(mail("ok"), agree());
    const silent = await raw({ replies: { RSET: null } });
    const other = connectTo(silent.port);
    await other.send(mail("ok"), agree());
    const progress = agree();
    expect((await other.send(mail("ok"), progress)).kind).toBe("accepted");
    expect([silent.connections(), silent.dots.length, progress.asked]).toEqual([
      2,
      2,
      ["may still send", "transmitting"],
    ]);
  });

  it.each<[string, string]>([
    ["closes at", "drop"],
    ["says 421 to", "421 4.7.0 Too many messages on this connection"],
  ])(
    "when the server %s MAIL FROM on a connection that it kept, then the message goes over another",
    async (_, MAIL) => {
      for (const offers of [[], ["PIPELINING"]]) {
        const stub = await raw({ offers, laterReplies: { MAIL } });
        const transport = connectTo(stub.port);
        const progress = agree();
        const results = [await transport.send(mail("ok"), agree()), await transport.send(mail("ok"), progress)];
        expect(results.map(({ kind }) => kind)).toEqual(["accepted", "accepted"]);
        expect(progress.asked).toEqual(["may still send", "may still send", "transmitting"]);
        expect([stub.connections(), new Set(stub.dots).size]).toEqual([2, 2]);
      }
    },
  );

  it("when a refusal ended a transaction, then the next message has the connection to itself", async () => {
    const server = await plan();
    const transport = connectTo(server.port);
    const results = [];
    for (const local of ["550-5.1.1", "ok", "450", "552", "ok"])
      results.push((await transport.send(mail(local), agree())).kind);
    expect(results).toEqual(["refused", "accepted", "refused", "refused", "accepted"]);
    expect(server.connections()).toBe(1);
  });

  it("when the caller withdraws, then the server hears nothing of the message", async () => {
    const stub = await raw();
    const transport = connectTo(stub.port);
    const progress = agree({ mayStillSend: () => Promise.resolve(false) });
    expect(await transport.send(mail("ok"), progress)).toEqual({ kind: "withdrawn" });
    expect((await transport.send(mail("ok"), agree())).kind).toBe("accepted");
    await transport.close();
    expect(stub.lines.map((line) => line.split(" ")[0])).toEqual(["EHLO", "RSET", "MAIL", "RCPT", "DATA", "QUIT"]);
  });

  it("when the caller's question fails, then the caller gets the error and the connection goes on", async () => {
    const stub = await raw();
    const transport = connectTo(stub.port);
    const failure = new Error("store");
    await expect(transport.send(mail("ok"), agree({ mayStillSend: () => Promise.reject(failure) }))).rejects.toBe(
      failure,
    );
    expect((await transport.send(mail("ok"), agree())).kind).toBe("accepted");
    expect(stub.connections()).toBe(1);
  });

  it("when nothing is sent for a while, then the connection says QUIT", async () => {
    const stub = await raw();
    await connectTo(stub.port, { timeouts: { ...QUICK, idle: 50 } }).send(mail("ok"), agree());
    await expect.poll(() => stub.lines.at(-1)).toBe("QUIT");
  });
});

describe("closing", () => {
  it("when messages are in flight, then they end, what waits is told, and then comes QUIT", async () => {
    const stub = await raw({ replyDelayMs: 100 });
    const transport = connectTo(stub.port);
    const first = transport.send(mail("ok"), agree());
    const second = transport.send(mail("ok"), agree());
    const told = second.catch((error: unknown) => String(error));
    await expect.poll(() => stub.dots.length).toBe(1);
    await transport.close();
    expect(await told).toBe("Error: the transport is closed");
    expect((await first).kind).toBe("accepted");
    expect(stub.lines.at(-1)).toBe("QUIT");
    await expect(transport.send(mail("ok"), agree())).rejects.toThrow("the transport is closed");
  });

  it("when messages do not end in time, then those before the dot are broken, then those past it", async () => {
    const server = { ...QUICK, command: 5000, afterDot: 5000 };
    const [before, past] = [await raw({ replies: { RCPT: null } }), await raw({ afterDot: null })];
    const began = systemClock.monotonic();
    const results = await Promise.all(
      [before, past].map(async ({ port, lines }) => {
        const transport = connectTo(port, { timeouts: server });
        const sending = transport.send(mail("ok"), agree());
        await expect.poll(() => lines.some((line) => line.startsWith("RCPT"))).toBe(true);
        await transport.close();
        return timeless(await sending);
      }),
    );
    expect(results).toEqual([
      broken("rcpt-to", "the service is stopping"),
      broken("final-dot", "the service is stopping", true),
    ]);
    expect(systemClock.monotonic() - began).toBeLessThan(2000);
  });
});
