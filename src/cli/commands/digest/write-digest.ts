/** `digest`: the last days in one message, on stdout for whatever sends it. */
import { createHash } from "node:crypto";
import { digestHtml, digestSlack, digestText } from "../../../insight/report/digest.ts";
import { headline, type ReportFacts } from "../../../insight/report/facts.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { toSafeLines } from "../../render/safe-text.ts";
import { readFacts, type ReportRequest } from "../report/read-facts.ts";

export type DigestFormat = "text" | "html" | "eml" | "slack";

interface MailParties {
  readonly from: string;
  readonly to: readonly string[];
}

export interface DigestOptions {
  readonly format: DigestFormat;
  readonly request: ReportRequest;
  readonly mail: MailParties;
}

/** A week in which nobody answered is a message as well. */
export async function runDigest(deps: Deps, { format, request, mail }: DigestOptions): Promise<ExitCode> {
  const facts = await readFacts(deps, request, "");
  const { out } = deps.streams;
  const text = await FORMATS[format](facts, mail, request.asOf);
  await out.write(out.isTTY ? toSafeLines(text) : text);
  return EXIT.done;
}

type Format = (facts: ReportFacts, mail: MailParties, at: number) => string | Promise<string>;

const FORMATS: Readonly<Record<DigestFormat, Format>> = {
  text: (facts) => digestText(facts),
  html: (facts) => digestHtml(facts),
  slack: (facts) => `${JSON.stringify(digestSlack(facts), null, 2)}\n`,
  eml: formatDigestMail,
};

/** The same facts and parties give the same bytes. `at` is Unix seconds. */
async function formatDigestMail(facts: ReportFacts, { from, to }: MailParties, at: number): Promise<string> {
  const { formatMessage, headerText, mailbox } = await import("../../../service/delivery/message/mime.ts");
  const parts = [
    { type: "text/plain", text: digestText(facts) },
    { type: "text/html", text: digestHtml(facts) },
  ];
  const sum = createHash("sha256")
    .update(JSON.stringify([from, to, at, parts]))
    .digest("hex");
  const headers: [string, string][] = [
    ["From", mailbox(null, from)],
    ...(to.length === 0
      ? []
      : [["To", to.map((address) => mailbox(null, address)).join(",\r\n ")] as [string, string]]),
    ["Subject", headerText(`${facts.title}: ${headline(facts)}`)],
    ["Date", new Date(at * 1000).toUTCString().replace("GMT", "+0000")],
    ["Message-ID", `<${sum.slice(0, 32)}@${from.slice(from.lastIndexOf("@") + 1)}>`],
    ["Auto-Submitted", "auto-generated"],
  ];
  // `=_` occurs neither in Base64 nor in quoted-printable.
  return formatMessage(headers, parts, `=_${sum.slice(32, 60)}`);
}
