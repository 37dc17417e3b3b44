import { createHash } from "node:crypto";
import { digestHtml, digestSlack, digestSubject, digestText } from "../../../insight/report/digest.ts";
import type { ReportFacts } from "../../../insight/report/facts.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeText } from "../../render/safe-text.ts";
import { completeRequest, type TypedRequest } from "../report/request.ts";
import { readFacts } from "../report/read-facts.ts";

type DigestFormat = "text" | "html" | "eml" | "slack";

interface MailParties {
  readonly from: string;
  readonly to: readonly string[];
}

/** Sends a digest even for a week without answers. */
export async function writeDigest(
  deps: Deps,
  request: TypedRequest,
  format: DigestFormat,
  mail: MailParties,
): Promise<void> {
  const facts = await readFacts(deps, await completeRequest(deps, request), "");
  await writeText(deps.streams.out, await FORMATS[format](facts, mail, request.asOf));
}

type Format = (facts: ReportFacts, mail: MailParties, at: number) => string | Promise<string>;

const FORMATS: Readonly<Record<DigestFormat, Format>> = {
  text: (facts) => digestText(facts),
  html: (facts) => digestHtml(facts),
  slack: (facts) => `${JSON.stringify(digestSlack(facts), null, 2)}\n`,
  eml: formatDigestMail,
};

/** The same input always gives the same email. `at` is Unix seconds. */
async function formatDigestMail(facts: ReportFacts, { from, to }: MailParties, at: number): Promise<string> {
  const { composeMail } = await import("../../../service/delivery/message/mime.ts");
  const text = digestText(facts);
  const html = digestHtml(facts);
  const sum = createHash("sha256")
    .update(JSON.stringify([from, to, at, text, html]))
    .digest("hex");
  return composeMail({
    from: { name: null, address: from },
    to: to.map((address) => ({ name: null, address })),
    replyTo: null,
    subject: digestSubject(facts),
    at,
    messageId: `${sum.slice(0, 32)}@${from.slice(from.lastIndexOf("@") + 1)}`,
    headers: [["Auto-Submitted", "auto-generated"]],
    text,
    html,
    boundary: sum.slice(32, 60),
  });
}
