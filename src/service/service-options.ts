/** The options that a service is opened with. */
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Random } from "../runtime/random.ts";
import type { DatabaseChoice } from "./data-file/open-data-file.ts";
import type { FetchText } from "./delivery/bounce/sns.ts";
import type { SenderSettings } from "./delivery/message/sender.ts";
import type { OnUnknown } from "./domain/delivery/deliveries.ts";
import type { RateLimit } from "./http/rate-limit.ts";
import type { MailOptions } from "./parts/mail.ts";
import type { SmsOptions } from "./parts/sms.ts";

export interface ServiceOptions {
  /** Created when it does not exist; `outbox/` is next to it. With a database, a name for it without its password. */
  readonly dataFile: string;
  /** The server that keeps the data instead of a file; other processes may use it at the same time. */
  readonly database?: DatabaseChoice | null;
  /** The folder of messages that are not sent; absent: `outbox/` next to the data file. */
  readonly outbox?: string | null;
  /** False for a command, which does not know where its server keeps messages. Absent: true. */
  readonly knowsOutbox?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /**
   * The address of the service as seen from outside, without a slash at the end; null: the address that requests are
   * sent to.
   */
  readonly publicUrl: string | null;
  readonly rateLimit: RateLimit | null;
  /** Lets callers beyond this machine read the metrics; absent or null: none. */
  readonly metricsToken?: string | null;
  /** Addresses and networks of proxies that tell for whom they ask; absent or null: this machine, with a public URL. */
  readonly trustedProxies?: readonly string[] | null;
  /** The sender of surveys of a project that names none itself. */
  readonly sender?: SenderSettings;
  /** Sends mail over SMTP; null, the default, leaves it in the outbox. */
  readonly mail?: MailOptions | null;
  /** The way out of a mail that a command sends by itself; absent or null for none. */
  readonly commandMail?: Pick<MailOptions, "server" | "certificates" | "dkim"> | null;
  /** Sends text messages through a gateway; null, the default, leaves them in the outbox. */
  readonly sms?: SmsOptions | null;
  /** Surveys that were due longer ago are given up; null, the default, for no limit. */
  readonly maxAgeSeconds?: number | null;
  /**
   * Surveys and reminders that leave in one day of a project that has no limit of its own; absent or null for no limit.
   */
  readonly dailyLimit?: number | null;
  /** The treatment of a mail that may have arrived: `hold` is the default. */
  readonly onUnknown?: OnUnknown;
  /** Messages in the outbox are removed after this long; null keeps them. */
  readonly outboxKeepSeconds?: number | null;
  /** The time after the first answer in which it may be changed on its page; absent or null: 30 days. */
  readonly answerWindowSeconds?: number | null;
  /** Gets certificates and confirmations of Amazon's; absent: over the network. */
  readonly fetchText?: FetchText;
}
