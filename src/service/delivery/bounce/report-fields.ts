/** The fields of the two reports that machines write: on the delivery (RFC 3464) and on spam (RFC 5965). */

export interface RecipientStatus {
  /** In lower case, `failed`, `delayed`, `delivered`, `relayed` or `expanded`; null when the server left it out. */
  readonly action: string | null;
  /** `5.1.1` */
  readonly status: string | null;
  /** With its type: `smtp; 550 5.1.1 user unknown`. Where it is left out, the comment of the status. */
  readonly diagnosticCode: string | null;
  /** Addresses without their type (`rfc822;`). */
  readonly finalRecipient: string | null;
  readonly originalRecipient: string | null;
}

export interface FeedbackReport {
  /** In lower case: `abuse`, `fraud`, `opt-out`, … */
  readonly feedbackType: string;
  /** The person who complains, as far as the provider says. */
  readonly originalRecipient: string | null;
}

/** Characters of a field that runs over several lines; no server says as much. */
const MAX_VALUE = 4096;

type Fields = ReadonlyMap<string, string>;

/** A line that begins a field. Servers forget to indent continued lines, so the names are those of the standards. */
const FIELD =
  /^((?:X-[\w-]+)|(?:(?:Final|Original)-Recipient|Original-Rcpt-To|Original-Mail-From|Action|Status|Diagnostic-Code|Remote-MTA|Reporting-MTA|DSN-Gateway|Received-From-MTA|Arrival-Date|Last-Attempt-Date|Final-Log-ID|Will-Retry-Until|Original-Envelope-Id|Feedback-Type|User-Agent|Version|Source-IP|Source|Reported-Domain|Received-Date|Incidents|Auth-Failure|Authentication-Results|Original-Message-ID|Localized-Diagnostic|Reported-URI))[ \t]*:[ \t]*(.*)$/i;
/** Kinds of feedback that say nothing against the message: RFC 6430, RFC 6591. */
const NO_COMPLAINT = new Set(["not-spam", "auth-failure", "virus"]);

/** One entry for each recipient in the text of a `message/delivery-status`, in order. */
export function readStatus(text: string): readonly RecipientStatus[] {
  return blocksOf(text)
    .filter((fields) => fields.has("final-recipient") || fields.has("action") || fields.has("status"))
    .map((fields) => ({
      action: /^[a-z]+/.exec((fields.get("action") ?? "").toLowerCase())?.[0] ?? null,
      status: /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get("status") ?? "")?.[0] ?? null,
      diagnosticCode: fields.get("diagnostic-code") ?? inBrackets(fields.get("status") ?? ""),
      finalRecipient: addressOf(fields.get("final-recipient")),
      originalRecipient: addressOf(fields.get("original-recipient")),
    }));
}

/** The text between the first bracket and the last. */
function inBrackets(value: string): string | null {
  const [open, close] = [value.indexOf("("), value.lastIndexOf(")")];
  return open === -1 || close <= open + 1 ? null : value.slice(open + 1, close);
}

/** Reads the text of a `message/feedback-report`. */
export function readFeedback(text: string): FeedbackReport {
  const fields = new Map(blocksOf(text).flatMap((block) => [...block]));
  return {
    feedbackType: (fields.get("feedback-type") ?? "").toLowerCase(),
    originalRecipient: addressOf(fields.get("original-rcpt-to")),
  };
}

/** True for the kinds by which a person says that the message is unwanted. */
export function isComplaint({ feedbackType }: FeedbackReport): boolean {
  return feedbackType !== "" && !NO_COMPLAINT.has(feedbackType);
}

/** Blocks end at an empty line, and where a field comes that the block already has. */
function blocksOf(text: string): readonly Fields[] {
  const blocks: Map<string, string>[] = [];
  for (const paragraph of text.split(/\r?\n(?:[ \t]*\r?\n)+/)) {
    let block = new Map<string, string>();
    blocks.push(block);
    let last = "";
    for (const line of paragraph.split(/\r?\n/)) {
      const [, name, value = ""] = FIELD.exec(line) ?? [];
      if (name === undefined) {
        const start = block.get(last) ?? "";
        if (last !== "" && start.length < MAX_VALUE) block.set(last, `${start} ${line.trim()}`.trim());
        continue;
      }
      last = name.toLowerCase();
      if (last === "final-recipient" && block.has(last)) blocks.push((block = new Map<string, string>()));
      if (!block.has(last)) block.set(last, value.trim());
    }
  }
  return blocks;
}

/** `rfc822; <ada@example.com>` → `ada@example.com` */
function addressOf(value: string | undefined): string | null {
  const address = (value ?? "")
    .replace(/^[\w-]+\s*;/, "")
    .trim()
    .replace(/^<(.*)>$/, "$1");
  return address === "" ? null : address;
}
