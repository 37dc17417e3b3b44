import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Random } from "../runtime/random.ts";
import type { DatabaseChoice } from "./data-file/open-data-file.ts";
import type { FetchText } from "./delivery/bounce/sns.ts";
import type { SenderSettings } from "./delivery/message/sender.ts";
import type { OnUnknown } from "./domain/delivery/deliveries.ts";
import type { RateLimit } from "./http/rate-limit.ts";
import type { MailOptions } from "./sending/mail.ts";
import type { SmsOptions } from "./sending/sms.ts";

export interface ServiceOptions {
  /** Created if missing. With a database, its name without the password. */
  readonly dataFile: string;
  readonly database?: DatabaseChoice | null;
  /** Folder for messages that aren't sent; `outbox/` next to the data file by default. */
  readonly outbox?: string | null;
  /** False in commands, which don't know their server's outbox. Defaults to true. */
  readonly knowsOutbox?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Public URL without a trailing slash; null uses each request's address. */
  readonly publicUrl: string | null;
  readonly rateLimit: RateLimit | null;
  readonly metricsToken?: string | null;
  /** Addresses and networks of trusted proxies; loopback by default if there is a public URL. */
  readonly trustedProxies?: readonly string[] | null;
  readonly sender?: SenderSettings;
  /** SMTP settings; null (the default) writes mail to the outbox. */
  readonly mail?: MailOptions | null;
  /** Gateway for text messages; null (the default) writes them to the outbox. */
  readonly sms?: SmsOptions | null;
  readonly maxAgeSeconds?: number | null;
  readonly dailyLimit?: number | null;
  /** What to do with an email that may have arrived; `hold` by default. */
  readonly onUnknown?: OnUnknown;
  readonly outboxKeepSeconds?: number | null;
  readonly answerWindowSeconds?: number | null;
  readonly fetchText?: FetchText;
}
