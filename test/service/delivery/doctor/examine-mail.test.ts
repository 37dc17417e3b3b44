import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import type { NameResolver } from "../../../../src/runtime/name-resolver.ts";
import { checkNames } from "../../../../src/service/delivery/doctor/check-names.ts";
import { examineMail } from "../../../../src/service/delivery/doctor/examine-mail.ts";
import { areAligned, type DoctorFinding, type MailSetup } from "../../../../src/service/delivery/doctor/finding.ts";
import { type DkimKey, dkimRecord, readDkimKey } from "../../../../src/service/delivery/mail/dkim.ts";
import { parseSmtpUrl } from "../../../../src/service/delivery/smtp/smtp-url.ts";
import { RSA_PEM, type SmtpPlanServer, startPlanServer } from "../../../helpers/smtp-plan-server.ts";

const key = { value: null as DkimKey | null };
beforeAll(() => {
  key.value = readDkimKey(RSA_PEM, { domain: "example.com", selector: "s1" });
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function good(given: Partial<MailSetup> = {}): MailSetup {
  return {
    publicUrl: "https://survey.example.com",
    from: "survey@example.com",
    bounceAddress: "bounces+{token}@example.com",
    server: parseSmtpUrl("smtp://app:secret-word@relay.example.com"),
    certificates: null,
    rate: { count: 10, perSeconds: 1 },
    dkim: key.value,
    ...given,
  };
}

type Short = readonly [check: string, result: DoctorFinding["result"], detail: string];
const shorten = (findings: readonly DoctorFinding[]): Short[] =>
  findings.map(({ check, result, detail }) => [check, result, detail]);
const offline = async (given: Partial<MailSetup> = {}): Promise<Short[]> =>
  shorten(await examineMail(good(given), systemClock, null));
const of = (findings: readonly Short[], check: string): Short | undefined => findings.find(([name]) => name === check);

describe("without asking anybody", () => {
  test("settings that receivers accept have no problem", async () => {
    expect(await offline()).toEqual([
      ["sender", "ok", "survey@example.com"],
      ["public-url", "ok", "https://survey.example.com"],
      ["server", "ok", "smtp://app:***@relay.example.com:587"],
      ["tls", "ok", "STARTTLS is demanded"],
      ["rate", "ok", "10 a second"],
      ["bounces", "ok", "bounces+{token}@example.com"],
      ["dkim-key", "ok", "RSA, 2048 bits; signs and verifies"],
      ["dkim-domain", "ok", "d=example.com"],
      ["dkim-headers", "ok", "h=12 headers"],
    ]);
  });

  test("a setup without any setting says what is missing", async () => {
    const none = { publicUrl: null, from: null, bounceAddress: null, server: null, rate: null, dkim: null };
    expect(await offline(none)).toEqual([
      ["sender", "problem", "no sender address is set"],
      ["public-url", "problem", "no public URL is set: links lead to this machine"],
      ["server", "problem", "no mail server is set"],
      ["tls", "skipped", "no mail server"],
      ["rate", "skipped", "no mail server"],
      ["bounces", "skipped", "no mail server"],
      ["dkim-key", "warning", "mail is not signed here: the relay must sign it for your domain"],
      ["dkim-domain", "skipped", "no DKIM key"],
      ["dkim-headers", "skipped", "no DKIM key"],
    ]);
  });

  test.each<readonly [string, Partial<MailSetup>, Short]>([
    [
      "a mailbox provider's address",
      { from: "acme@gmail.com" },
      ["sender", "problem", "gmail.com belongs to a mailbox provider; use your own domain"],
    ],
    ["a sender without a domain", { from: "me@localhost" }, ["sender", "problem", "localhost is not a public domain"]],
    [
      "a public URL over plain http",
      { publicUrl: "http://survey.example.com" },
      ["public-url", "problem", "http://survey.example.com is not https: mail has no one-click headers"],
    ],
    [
      "a public URL with an IP address",
      { publicUrl: "https://[2001:db8::1]" },
      [
        "public-url",
        "problem",
        "https://[2001:db8::1] has an IP address for a host; Microsoft treats such links as spam",
      ],
    ],
    [
      "a URL that is none",
      { server: "--smtp: the SMTP URL has no host" },
      ["server", "problem", "--smtp: the SMTP URL has no host"],
    ],
    [
      "a password without TLS",
      { server: parseSmtpUrl("smtp://app:secret-word@relay.example.com?tls=off") },
      ["tls", "problem", "TLS is off: the password is sent in clear"],
    ],
    [
      "TLS that may be stripped",
      { server: parseSmtpUrl("smtp://relay.example.com") },
      ["tls", "warning", "TLS is used only if the server offers it; smtps:// or a user and password demand it"],
    ],
    [
      "a relay on this machine without TLS",
      { server: parseSmtpUrl("smtp://127.0.0.1") },
      ["tls", "ok", "not demanded: the server is this machine"],
    ],
    [
      "a rate above any relay's",
      { rate: { count: 500, perSeconds: 1 } },
      ["rate", "warning", "500 a second is faster than most relays accept"],
    ],
    [
      "a remote relay and no way for bounces",
      { bounceAddress: null },
      ["bounces", "warning", "relay.example.com may accept all mail and refuse it later; no bounce address is set"],
    ],
    [
      "bounces of another domain",
      { bounceAddress: "b@example.net" },
      ["bounces", "warning", "b@example.net is not of the sender's domain, so SPF does not count for DMARC"],
    ],
    [
      "a key that is none",
      { dkim: "the DKIM key has 1024 bits" },
      ["dkim-key", "problem", "the DKIM key has 1024 bits"],
    ],
    [
      "a key of another domain",
      { from: "survey@example.net" },
      ["dkim-domain", "problem", "d=example.com is not the domain of From, example.net"],
    ],
    [
      "a key of the domain above",
      { from: "survey@mail.example.com" },
      ["dkim-domain", "warning", "d=example.com and From mail.example.com differ; strict DMARC (adkim=s) fails"],
    ],
  ])("%s is found", async (_what, given, expected) => {
    expect(of(await offline(given), expected[0])).toEqual(expected);
  });

  test("each finding says which rule it would break", async () => {
    const found = await examineMail(good({ from: "survey@example.net" }), systemClock, null);
    expect(found.find(({ check }) => check === "dkim-domain")?.rule).toBe(
      "DKIM aligned with From (Gmail 421 5.7.32, Microsoft 550 5.7.515)",
    );
  });
});

test.each([
  ["example.com", "mail.example.com", true],
  ["a.example.com", "b.example.com", true],
  ["example.com", "example.net", false],
  ["one.co.uk", "two.co.uk", false],
  ["example.co.uk", "mail.example.co.uk", true],
])("%s and %s are one sender's: %s", (one, other, expected) => {
  expect(areAligned(one, other)).toBe(expected);
});

async function refuse(): Promise<never> {
  throw Object.assign(new Error("queryTxt ESERVFAIL"), { code: "ESERVFAIL" });
}

async function start(...args: Parameters<typeof startPlanServer>): Promise<SmtpPlanServer> {
  const server = await startPlanServer(...args);
  stops.push(server.stop);
  return server;
}

interface Zone {
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly mailHosts?: Readonly<Record<string, readonly string[]>>;
  readonly texts?: Readonly<Record<string, readonly string[]>>;
}

function namesOf({ addresses = {}, mailHosts = {}, texts = {} }: Zone): NameResolver {
  return {
    addresses: async (name) => addresses[name] ?? [],
    mailHosts: async (name) => mailHosts[name] ?? [],
    texts: async (name) => texts[name] ?? [],
  };
}

const look = async (names: NameResolver, given: Partial<MailSetup> = {}): Promise<Short[]> =>
  shorten(await checkNames(names, good(given)));
const HERE = parseSmtpUrl("smtp://127.0.0.1");
const ONE_ADDRESS = { "relay.example.com": ["192.0.2.7"] };

const relay = (host: string): Partial<MailSetup> => ({ server: parseSmtpUrl(`smtp://app:secret-word@${host}`) });
const signed = (flags: string): string => dkimRecord(key.value ?? never()).replace("k=rsa;", `k=rsa; ${flags}`);

describe("in DNS", () => {
  const judge = async (zone: Zone, check: string, given: Partial<MailSetup> = {}): Promise<Short | undefined> =>
    of(await look(namesOf(zone), given), check);

  test("a domain set up for mail has no problem", async () => {
    const findings = await look(
      namesOf({
        mailHosts: { "example.com": ["mx1.example.com", "mx2.example.com"] },
        texts: {
          "example.com": ["other=1", "v=spf1 ip4:127.0.0.0/8 -all"],
          "s1._domainkey.example.com": [dkimRecord(key.value ?? never())],
          "_dmarc.example.com": ["v=DMARC1; p=none; rua=mailto:dmarc@example.com"],
        },
      }),
      { server: HERE },
    );
    expect(findings).toEqual([
      ["sender-mx", "ok", "mx1.example.com, mx2.example.com"],
      [
        "spf",
        "warning",
        "example.com: v=spf1 ip4:127.0.0.0/8 -all; the address that this machine sends from is not known here",
      ],
      ["dkim-record", "ok", "s1._domainkey.example.com"],
      ["dmarc", "ok", "v=DMARC1; p=none; rua=mailto:dmarc@example.com"],
    ]);
  });

  test("an empty zone has a problem for each record", async () => {
    const record = dkimRecord(key.value ?? never());
    expect(await look(namesOf({}), { server: HERE })).toEqual([
      ["sender-mx", "problem", "example.com has neither MX nor A records"],
      ["spf", "problem", "example.com has no SPF record"],
      ["dkim-record", "problem", `no TXT record at s1._domainkey.example.com; it must be "${record}"`],
      ["dmarc", "problem", 'no DMARC record at _dmarc.example.com; at least "v=DMARC1; p=none"'],
    ]);
  });

  test("servers that do not answer are no problem of the settings", async () => {
    const names = { addresses: refuse, mailHosts: refuse, texts: refuse };
    expect((await look(names, { server: HERE })).map(([, result, detail]) => [result, detail])).toEqual(
      Array.from({ length: 4 }, () => ["skipped", "DNS did not answer (ESERVFAIL)"]),
    );
  });

  const rows: readonly (readonly [string, () => Zone, Partial<MailSetup>, Short])[] = [
    [
      "a sender that takes no mail",
      () => ({ mailHosts: { "example.com": [""] } }),
      {},
      ["sender-mx", "problem", "example.com does not accept mail"],
    ],
    [
      "a sender without mail hosts",
      () => ({ addresses: { "example.com": ["192.0.2.1"] } }),
      {},
      ["sender-mx", "warning", "example.com has no MX record, only addresses"],
    ],
    [
      "two keys under one name",
      () => ({ texts: { "s1._domainkey.example.com": [signed(""), signed("")] } }),
      {},
      ["dkim-record", "problem", "s1._domainkey.example.com has 2 keys; only one is allowed"],
    ],
    [
      "a key in test mode",
      () => ({ texts: { "s1._domainkey.example.com": [signed("t=s:y;")] } }),
      {},
      [
        "dkim-record",
        "warning",
        "s1._domainkey.example.com is in test mode (t=y): failures do not count, nor may passes",
      ],
    ],
    [
      "no policy",
      () => ({ texts: { "_dmarc.example.com": ["v=DMARC1; rua=mailto:d@example.com"] } }),
      {},
      ["dmarc", "problem", "v=DMARC1; rua=mailto:d@example.com has no valid policy"],
    ],
    [
      "a policy that nothing here can pass",
      () => ({ texts: { "_dmarc.example.com": ["v=DMARC1; p=reject"] } }),
      { dkim: null, bounceAddress: "b@example.net" },
      ["dmarc", "warning", "v=DMARC1; p=reject; it passes only if the relay signs for example.com"],
    ],
    [
      "a relay with an envelope of its own",
      () => ({ addresses: { "smtp.postmarkapp.com": ["192.0.2.7"] } }),
      relay("smtp.postmarkapp.com"),
      ["spf", "ok", "smtp.postmarkapp.com sends with an envelope domain of its own"],
    ],
    [
      "a known relay that SPF leaves out",
      () => ({ addresses: { "smtp.gmail.com": ["192.0.2.7"] }, texts: { "example.com": ["v=spf1 -all"] } }),
      relay("smtp.gmail.com"),
      [
        "spf",
        "problem",
        "the SPF record of example.com does not include _spf.google.com, the servers of smtp.gmail.com",
      ],
    ],
    [
      "a known relay",
      () => ({
        addresses: { "smtp.gmail.com": ["192.0.2.7"] },
        texts: { "example.com": ["v=spf1 include:_spf.google.com -all"], "_spf.google.com": ["v=spf1 ~all"] },
      }),
      relay("smtp.gmail.com"),
      ["spf", "ok", "example.com includes _spf.google.com"],
    ],
    [
      "a relay that has no address",
      () => ({}),
      relay("relay.example.com"),
      ["spf", "skipped", "relay.example.com has no address in DNS"],
    ],
  ];
  test.each(rows)("%s is judged", async (_what, zone, given, expected) => {
    expect(await judge(zone(), expected[0], given)).toEqual(expected);
  });

  test.each<readonly [string, string, DoctorFinding["result"], RegExp]>([
    ["is revoked", "v=DKIM1; k=rsa; p=", "problem", /^the key at .* is revoked/],
    ["is another one", "v=DKIM1; k=rsa; p=MIIB", "problem", /^the key at .* is another one; it must be "v=DKIM1/],
  ])("a key in DNS that %s is found", async (_what, record, result, words) => {
    const found = await judge({ texts: { "s1._domainkey.example.com": [record] } }, "dkim-record");
    expect(found).toEqual(["dkim-record", result, expect.stringMatching(words)]);
  });

  test("the policy of the domain above counts", async () => {
    const zone = { texts: { "_dmarc.example.com": ["v=DMARC1; p=reject"] } };
    expect(await judge(zone, "dmarc", { from: "survey@mail.example.com" })).toEqual([
      "dmarc",
      "ok",
      "v=DMARC1; p=reject",
    ]);
  });

  const spfCases: readonly (readonly [string, NonNullable<Zone["texts"]>, Zone, DoctorFinding["result"], string])[] = [
    [
      "an address",
      { "example.com": ["v=spf1 ip4:192.0.2.0/24 -all"] },
      {},
      "ok",
      "example.com lets relay.example.com send",
    ],
    [
      "an included domain",
      { "example.com": ["v=spf1 include:_spf.example.net ~all"], "_spf.example.net": ["v=spf1 ip4:192.0.2.7 -all"] },
      {},
      "ok",
      "example.com lets relay.example.com send",
    ],
    [
      "a redirect",
      { "example.com": ["v=spf1 redirect=_spf.example.net"], "_spf.example.net": ["v=spf1 a:out.example.net -all"] },
      { addresses: { "out.example.net": ["192.0.2.7"] } },
      "ok",
      "example.com lets relay.example.com send",
    ],
    [
      "mail hosts",
      { "example.com": ["v=spf1 mx/24 -all"] },
      { mailHosts: { "example.com": ["mx.example.com"] }, addresses: { "mx.example.com": ["192.0.2.200"] } },
      "ok",
      "example.com lets relay.example.com send",
    ],
    [
      "other addresses",
      { "example.com": ["v=spf1 ip4:198.51.100.0/24 -ip4:192.0.2.7 +all"] },
      {},
      "warning",
      "example.com does not list the addresses of relay.example.com; it may send from others",
    ],
    [
      "two records",
      { "example.com": ["v=spf1 -all", "v=spf1 +all"] },
      {},
      "problem",
      "the SPF record of example.com is not valid: example.com has 2 SPF records; only one is allowed",
    ],
    [
      "a mistyped term",
      { "example.com": ["v=spf1 ipv4:192.0.2.7 -all"] },
      {},
      "problem",
      'the SPF record of example.com is not valid: "ipv4:192.0.2.7" is not a valid term',
    ],
    [
      "a circle",
      { "example.com": ["v=spf1 include:example.com -all"] },
      {},
      "problem",
      "the SPF record of example.com is not valid: the record needs more than 10 DNS lookups",
    ],
  ];
  test.each(spfCases)("an SPF record with %s is judged", async (_what, texts, zone, result, detail) => {
    const names = namesOf({ texts, ...zone, addresses: { ...ONE_ADDRESS, ...zone.addresses } });
    expect(of(await look(names), "spf")).toEqual(["spf", result, detail]);
  });
});

function never(): never {
  throw new Error("the key was not made");
}

describe("at the mail server", () => {
  const SECRET = { user: "app", password: "secret-word" };
  const { signal } = new AbortController();
  const hear = async (given: Partial<MailSetup>): Promise<Short[]> =>
    shorten(await examineMail(good(given), systemClock, { names: namesOf({}), signal })).slice(13);
  const ask = async (url: string, given: Partial<MailSetup> = {}): Promise<Short[]> =>
    hear({ server: parseSmtpUrl(url), ...given });
  const CA = readFileSync(path.join(import.meta.dirname, "../../../fixtures/tls/cert.pem"), "utf8");

  test("a login over TLS is tried, and no mail is sent", async () => {
    const server = await start({ tls: "starttls", credentials: SECRET });
    const findings = await ask(`smtp://app:secret-word@localhost:${server.port}`, { certificates: CA });
    expect(findings).toEqual([
      ["connection", "ok", expect.stringMatching(/^localhost:\d+, TLSv1\.[23]$/)],
      ["certificate", "ok", expect.stringMatching(/^issued by .+, valid for \d+ more days$/)],
      ["auth", "ok", "logged in as app"],
      ["ehlo", "ok", expect.stringMatching(/^PIPELINING, 8BITMIME, SMTPUTF8, .*AUTH LOGIN PLAIN/)],
    ]);
    expect([server.logins(), server.accepted]).toEqual([1, []]);
  });

  test("a refused password is shown with the server's words, and never itself", async () => {
    const server = await start({ tls: "starttls", credentials: { ...SECRET, password: "another" } });
    const findings = await ask(`smtp://app:secret-word@localhost:${server.port}`, { certificates: CA });
    expect(of(findings, "auth")).toEqual(["auth", "problem", "535 5.7.8 Wrong user name or password"]);
    expect(JSON.stringify(findings)).not.toContain("secret-word");
  });

  test("a certificate that is not trusted is a problem", async () => {
    const server = await start({ tls: "implicit", credentials: SECRET });
    expect(await ask(`smtps://app:secret-word@localhost:${server.port}`)).toEqual([
      ["connection", "ok", expect.stringMatching(/^localhost:\d+$/)],
      ["certificate", "problem", expect.stringMatching(/^certificate not accepted: self-signed certificate/)],
      ["auth", "skipped", "not reached"],
      ["ehlo", "skipped", "not reached"],
    ]);
  });

  test("a server that nobody runs is a problem", async () => {
    expect((await ask("smtp://127.0.0.1:1"))[0]).toEqual([
      "connection",
      "problem",
      "127.0.0.1:1: the server refused the connection",
    ]);
  });

  test("a server whose messages must be small is a problem", async () => {
    const server = await start({ server: { size: 9000 } });
    expect(of(await ask(`smtp://127.0.0.1:${server.port}`), "ehlo")).toEqual([
      "ehlo",
      "problem",
      "messages have at most 9000 bytes",
    ]);
  });

  test("a server without TLS where it is demanded is a problem", async () => {
    const server = await start({ credentials: SECRET });
    const url = { ...parseSmtpUrl(`smtp://app:secret-word@127.0.0.1:${server.port}`), security: "required" as const };
    const found = await hear({ server: url });
    expect(of(found, "certificate")?.slice(0, 2)).toEqual(["certificate", "problem"]);
    expect(server.logins()).toBe(0);
  });
});
