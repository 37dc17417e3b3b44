import type { Random } from "../../../runtime/random.ts";
import type { DueQuestion, FrozenMessage } from "../../domain/ports.ts";
import { type DkimKey, signMail } from "../mail/dkim.ts";
import type { SmtpMessage } from "../smtp/smtp-types.ts";
import { asciiDomain, needsSmtpUtf8 } from "./mime.ts";
import { formatSurveyMail, freezeMail, toFrozenMessage } from "./survey-mail.ts";
import type { MailContext } from "./sender.ts";

export interface RenderOptions {
  readonly random: Pick<Random, "token">;
  readonly now: number;
  readonly key: DkimKey | null;
}

const BOUNCE_TOKEN_BYTES = 16;
const BOUNCE_TOKEN = "{token}";

/** With the same settings, every attempt renders the same bytes; the signature contains no time. */
export async function renderMail(
  due: DueQuestion,
  context: MailContext,
  { random, now, key }: RenderOptions,
): Promise<{ readonly message: SmtpMessage; readonly frozen: FrozenMessage }> {
  const mail = freezeMail(due, context, random, now);
  const { bounceAddress } = context.sender;
  const hasToken = bounceAddress?.includes(BOUNCE_TOKEN) === true;
  const bounceToken = due.frozen?.bounceToken ?? (hasToken ? random.token(BOUNCE_TOKEN_BYTES) : null);
  const from = bounceAddress?.replace(BOUNCE_TOKEN, bounceToken ?? "") ?? mail.from.address;
  const to = due.person.email ?? "";
  const unsigned = await formatSurveyMail(due, mail, context);
  const text = key === null ? unsigned : await signMail(unsigned, key);
  return {
    message: {
      from: asciiDomain(from),
      to: asciiDomain(to),
      bytes: Buffer.from(text, "utf8"),
      needsSmtpUtf8: needsSmtpUtf8(to),
    },
    frozen: toFrozenMessage(mail, bounceToken),
  };
}
