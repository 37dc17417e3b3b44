/**
 * Real bounces from public collections. `test/fixtures/bounces/README.md` says where to get the larger ones.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readReport, type ReturnedMessage } from "../../../../src/service/delivery/bounce/read-report.ts";
import { mailToReport } from "../../../../src/service/delivery/bounce/to-report.ts";
import { classifyReply, type ReplyMeaning } from "../../../../src/service/delivery/mail/classify-reply.ts";
import { reportedReply } from "../../../../src/service/delivery/mail/parse-reply.ts";

const SAMPLE = path.join(import.meta.dirname, "../../../fixtures/bounces/flufl");
const folder = process.env["BOUNCE_CORPORA"] ?? "";
const SISIMAI = path.join(folder, "rb-sisimai");
const MAILS = path.join(SISIMAI, "set-of-emails/maildir");
const MANUAL = path.join(folder, "smtp-field-manual/data/codes");

type Expected = readonly [status: string, code: string, reason: string, hard: boolean];

/** Problems on the sender's side. Recording a bounce for these would lose a good address. */
const SENDERS_TROUBLE = new Set([
  "authfailure",
  "badreputation",
  "blocked",
  "exceedlimit",
  "norelaying",
  "notcompliantrfc",
  "policyviolation",
  "mailboxfull",
  "requireptr",
  "securityerror",
  "spamdetected",
  "speeding",
  "toomanyconn",
  "virusdetected",
]);
/** The collection goes by "not enough disk space" in the human-readable part; the report says 5.1.1 "user unknown". */
const CONTRADICTION = "rfc3464-01.eml";
/** Files whose verdict we disagree with, or whose report has nothing to decide by. */
const DECIDED_OTHERWISE = new Set([
  // 5.4.4 with a broken DNS answer. The collection calls the same text temporary in lhost-postfix-17.
  "lhost-aol-06.eml",
  // 5.0.0 without a text; only the human-readable part says more.
  "lhost-gsuite-02.eml",
  // "542 Rejected" doesn't blame the address.
  "lhost-messagelabs-03.eml",
  // 450 is retried.
  "lhost-postfix-05.eml",
  // 5.7.27 blames the sender.
  "lhost-sendmail-57.eml",
]);

function readOracle(): ReadonlyMap<string, readonly Expected[]> {
  const tests = path.join(SISIMAI, "test/public");
  const names = readdirSync(tests).filter((name) => /^(?:lhost-|rhost-|rfc3464|rfc3834|arf)/.test(name));
  const oracle = names.flatMap((name) => {
    const entries = readFileSync(path.join(tests, name), "utf8").matchAll(/^\s*'(\d+)'\s*=>\s*(\[\[[^]*?\]\])/gm);
    return [...entries].map(
      ([, number = "", rows = ""]) =>
        [
          `${path.basename(name, ".rb")}-${number}.eml`,
          [...rows.matchAll(/\[\s*'([^']*)',\s*'([^']*)',\s*'([^']*)',\s*(true|false)/g)].map(
            ([, status = "", code = "", reason = "", hard]) => [status, code, reason, hard === "true"] as const,
          ),
        ] as const,
    );
  });
  return new Map(oracle.filter(([file]) => existsSync(path.join(MAILS, "bsd", file))));
}

const readMail = (variant: string, file: string): Promise<ReturnedMessage> =>
  readReport(readFileSync(path.join(MAILS, variant, file)));

function meaningsOf(message: ReturnedMessage): readonly ReplyMeaning[] {
  if (message.kind !== "delivery-status") return [];
  const failed = message.recipients.filter(({ action }) => action === "failed");
  return failed.map((recipient) => classifyReply({ stage: "report", ...reportedReply(recipient) }));
}

interface Tally {
  readonly lost: number;
  readonly found: number;
  readonly missed: readonly string[];
  readonly blamed: readonly string[];
}

/** `lost` counts hard bounces in mails that aren't formatted as reports. */
async function tally(oracle: ReadonlyMap<string, readonly Expected[]>): Promise<Tally> {
  let [lost, found] = [0, 0];
  const [missed, blamed]: [string[], string[]] = [[], []];
  for (const [file, rows] of oracle) {
    const meanings = meaningsOf(await readMail("bsd", file));
    if (meanings.length !== rows.length) {
      lost += rows.filter(([, , , hard]) => hard).length;
      continue;
    }
    for (const [at, [, , reason, hard]] of rows.entries()) {
      const bounced = meanings[at]?.outcome === "bounced";
      if (hard && bounced) found += 1;
      if (hard && !bounced) missed.push(file);
      if (bounced && SENDERS_TROUBLE.has(reason)) blamed.push(file);
    }
  }
  return { lost, found, missed, blamed };
}

interface SampleMail {
  readonly file: string;
  readonly permanent: readonly string[];
  readonly temporary: readonly string[];
  readonly report: string | null;
}

describe("the sample of real bounces", () => {
  const sample = JSON.parse(readFileSync(path.join(SAMPLE, "expected.json"), "utf8")) as readonly SampleMail[];

  it("when they are read, then unknown users bounce, and nobody else does", async () => {
    const found = sample.map(async ({ file }) => {
      const report = await mailToReport(readFileSync(path.join(SAMPLE, file)));
      const bounced = report.recipients.filter(({ verdict }) => verdict === "bounced");
      const isReport = report.kind === "delivery-status";
      return { file, isReport, bounced: [...new Set(bounced.flatMap(({ addresses }) => addresses))] };
    });
    expect(await Promise.all(found)).toEqual(
      sample.map(({ file, permanent, report }) => ({
        file,
        isReport: report !== null,
        bounced: report === "unknown user" ? permanent : [],
      })),
    );
  });
});

describe.skipIf(folder === "")("the collection of bounces", () => {
  it("when all reports are read, then bad addresses are found and nobody else bounces", async () => {
    const { lost, found, missed, blamed } = await tally(readOracle());
    console.log({ found, missed, lost });
    expect(blamed).toEqual([CONTRADICTION]);
    expect(missed).toEqual([...DECIDED_OTHERWISE]);
  });

  it.each(["dos", "mac"])("when line endings are those of %s, then the reports say the same", async (variant) => {
    const names = readdirSync(path.join(MAILS, variant)).filter((name) => existsSync(path.join(MAILS, "bsd", name)));
    expect(names.length).toBeGreaterThan(50);
    for (const name of names)
      expect([name, await readMail(variant, name)]).toEqual([name, await readMail("bsd", name)]);
  });

  it("when mails are not bounces, then nobody bounces", async () => {
    for (const name of readdirSync(path.join(MAILS, "not")))
      expect(await readMail("not", name)).toMatchObject({
        kind: expect.stringMatching(/^(?:other|auto-reply)$/) as string,
      });
  });
});

interface ManualPage {
  readonly reply: number;
  readonly providers?: readonly { readonly responses: readonly { readonly response: string }[] }[];
}

describe.skipIf(folder === "")("the manual of replies", () => {
  it("when a reply names a sender's trouble, then nobody bounces", () => {
    const pages = readdirSync(MANUAL).map(
      (name) => JSON.parse(readFileSync(path.join(MANUAL, name), "utf8")) as ManualPage,
    );
    const replies = pages.flatMap(({ reply, providers = [] }) =>
      providers.flatMap(({ responses }) => responses.map(({ response }) => ({ reply, response }))),
    );
    expect(replies.length).toBeGreaterThan(100);
    const bounced = replies.filter(({ reply, response }) => {
      const said = reportedReply({ status: null, diagnosticCode: response });
      return classifyReply({ ...said, stage: "rcpt-to", code: said.code ?? reply }).outcome === "bounced";
    });
    expect(
      bounced.filter(({ response }) => /spam|block|reputation|dmarc|spf|quota|relay(?! *=)/i.test(response)),
    ).toEqual([expect.objectContaining({ response: expect.stringContaining("due to inactivity") as string })]);
  });
});
