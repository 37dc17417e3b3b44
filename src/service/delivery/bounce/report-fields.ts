export interface RecipientStatus {
  /** In lower case: `failed`, `delayed`, `delivered`, `relayed` or `expanded`; null if missing. */
  readonly action: string | null;
  readonly status: string | null;
  /** Includes the type: `smtp; 550 5.1.1 user unknown`. Falls back to the comment of the `Status` field. */
  readonly diagnosticCode: string | null;
  readonly finalRecipient: string | null;
  readonly originalRecipient: string | null;
}

export interface FeedbackReport {
  readonly feedbackType: string;
  readonly originalRecipient: string | null;
}

const MAX_VALUE = 4096;

type Fields = ReadonlyMap<string, string>;

/** The start of a field. Servers forget to indent continuation lines, so only standard names count. */
const FIELD =
  /^((?:X-[\w-]+)|(?:(?:Final|Original)-Recipient|Original-Rcpt-To|Original-Mail-From|Action|Status|Diagnostic-Code|Remote-MTA|Reporting-MTA|DSN-Gateway|Received-From-MTA|Arrival-Date|Last-Attempt-Date|Final-Log-ID|Will-Retry-Until|Original-Envelope-Id|Feedback-Type|User-Agent|Version|Source-IP|Source|Reported-Domain|Received-Date|Incidents|Auth-Failure|Authentication-Results|Original-Message-ID|Localized-Diagnostic|Reported-URI))[ \t]*:[ \t]*(.*)$/i;
/** Feedback types that aren't complaints (RFC 6430, RFC 6591). */
const NO_COMPLAINT = new Set(["not-spam", "auth-failure", "virus"]);

export function readStatus(text: string): readonly RecipientStatus[] {
  return splitBlocks(text)
    .filter((fields) => fields.has("final-recipient") || fields.has("action") || fields.has("status"))
    .map((fields) => ({
      action: /^[a-z]+/.exec((fields.get("action") ?? "").toLowerCase())?.[0] ?? null,
      status: /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get("status") ?? "")?.[0] ?? null,
      diagnosticCode: fields.get("diagnostic-code") ?? inBrackets(fields.get("status") ?? ""),
      finalRecipient: bareAddress(fields.get("final-recipient")),
      originalRecipient: bareAddress(fields.get("original-recipient")),
    }));
}

function inBrackets(value: string): string | null {
  const [open, close] = [value.indexOf("("), value.lastIndexOf(")")];
  return open === -1 || close <= open + 1 ? null : value.slice(open + 1, close);
}

export function readFeedback(text: string): FeedbackReport {
  const fields = new Map(splitBlocks(text).flatMap((block) => [...block]));
  return {
    feedbackType: (fields.get("feedback-type") ?? "").toLowerCase(),
    originalRecipient: bareAddress(fields.get("original-rcpt-to")),
  };
}

export function isComplaint({ feedbackType }: FeedbackReport): boolean {
  return feedbackType !== "" && !NO_COMPLAINT.has(feedbackType);
}

/** A block ends at an empty line, or at a field that it already contains. */
function splitBlocks(text: string): readonly Fields[] {
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
function bareAddress(value: string | undefined): string | null {
  const address = (value ?? "")
    .replace(/^[\w-]+\s*;/, "")
    .trim()
    .replace(/^<(.*)>$/, "$1");
  return address === "" ? null : address;
}
