/** Bounces as mail servers format them, built without the code under test. */

export interface MailParts {
  readonly type: string;
  readonly headers?: readonly string[];
  readonly body: string;
}

export interface ReportParts {
  readonly type?: string;
  readonly status?: string;
  readonly encoding?: string;
  readonly returned?: string | null;
  readonly message?: string;
}

export function formatMail({ type, headers = [], body }: MailParts): string {
  return [...headers, "MIME-Version: 1.0", `Content-Type: ${type}`, "", body].join("\n");
}

export function formatReport(fields: string, parts: ReportParts = {}): string {
  const { type = "multipart/report; report-type=delivery-status", status = "message/delivery-status" } = parts;
  const { encoding = "7bit", returned = "message/rfc822" } = parts;
  const { message = "From: <surveys@survey.example>\nMessage-Id: <one@survey.example>\n\nHow are we doing?" } = parts;
  const sections = [
    "\n\nYour message could not be delivered. User unknown, mailbox full, blocked.\n",
    `\nContent-Type: ${status}\nContent-Transfer-Encoding: ${encoding}\n\n${fields}\n`,
    ...(returned === null ? [] : [`\nContent-Type: ${returned}\n\n${message}\n`]),
  ];
  const headers = ["From: <MAILER-DAEMON@mx.example.com>", "Subject: Returned mail", "Auto-Submitted: auto-generated"];
  return formatMail({ type: `${type}; boundary="b"`, headers, body: `--b${sections.join("\n--b")}\n--b--\n` });
}
