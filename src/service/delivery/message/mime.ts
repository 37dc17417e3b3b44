import { domainToASCII } from "node:url";
import { singleLine } from "../../domain/texts/plain-text.ts";

interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

export type MailHeader = readonly [name: string, value: string];

export interface MailContent {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly replyTo: string | null;
  readonly subject: string;
  readonly at: number;
  readonly messageId: string;
  /** The Message-ID without `<>`. */
  readonly inReplyTo?: string | null;
  readonly headers: readonly MailHeader[];
  readonly text: string;
  readonly html: string;
  /** The boundary between text and HTML. Neither may contain it. */
  readonly boundary: string;
}

/** Maximum characters of an encoded word, the same as nodemailer's. */
const WORD_MAX = 52;
const QUOTED_NAME = /"((?:[^"\\]|\\.)*)"(?= <)/g;

/** The same content always gives the same bytes: ASCII, unless an address isn't (see `needsSmtpUtf8`). */
export async function composeMail(content: MailContent): Promise<string> {
  const [{ default: MailComposer }, { encodeWord }] = await Promise.all([
    import("nodemailer/lib/mail-composer"),
    import("nodemailer/lib/mime-funcs"),
  ]);
  const { from, to, replyTo, subject, at, messageId, inReplyTo = null, headers, text, html, boundary } = content;
  const composer = new MailComposer({
    from: toAddress(from),
    to: to.map(toAddress),
    ...(replyTo === null ? {} : { replyTo: toAddress({ name: null, address: replyTo }) }),
    subject: singleLine(subject),
    date: new Date(at * 1000),
    messageId,
    ...(inReplyTo === null ? {} : { inReplyTo, references: inReplyTo }),
    text: text.replaceAll(/\r\n?/g, "\n"),
    html: html.replaceAll(/\r\n?/g, "\n"),
    encoding: "quoted-printable",
    baseBoundary: boundary,
    newline: "win",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const message = composer.compile();
  message.addHeader(headers.map(toOneLine));
  const encode = message.encodeHeaderValue.bind(message);
  message.encodeHeaderValue = (key, value) => {
    const encoded = encode(key, value);
    // nodemailer doesn't encode words that look encoded already, but "=?utf-8?q?=40?=" typed by a person is plain text.
    if (encoded === value) return encoded.includes("=?") ? encodeWord(encoded, "Q", WORD_MAX) : encoded;
    return encoded.replaceAll(QUOTED_NAME, (quoted, name: string) =>
      name.includes("=?") ? encodeWord(name.replaceAll(/\\(.)/g, "$1"), "Q", WORD_MAX) : quoted,
    );
  };
  return (await message.build()).toString("utf8");
}

function toAddress({ name, address }: Mailbox): { name: string; address: string } {
  return { name: singleLine(name ?? ""), address: asciiDomain(singleLine(address)) };
}

/** Some receivers read `List-Unsubscribe` only on one line, so our headers aren't folded. */
function toOneLine([key, value]: MailHeader): { key: string; value: { prepared: true; value: string } } {
  if (/[\r\n]/.test(value)) throw new Error(`header ${key} has a line break`);
  return { key, value: { prepared: true, value } };
}

/** Whether the address needs a server with SMTPUTF8 (RFC 6531). */
export function needsSmtpUtf8(address: string): boolean {
  return !/^\p{ASCII}*$/u.test(asciiDomain(address));
}

export function asciiDomain(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}
