import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { readFlagFile } from "../../args/text-file.ts";
import {
  badValue,
  parseChoice,
  parseDailyLimit,
  parseDuration,
  parseInteger,
  parseRateLimit,
} from "../../args/values.ts";
import type { Deps } from "../../kit/deps.ts";
import { recordsOf } from "../../kit/flag-spec.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { MailSetup } from "../../../service/delivery/doctor/finding.ts";
import type { ServiceOptions } from "../../../service/service-options.ts";
import type { MailOptions } from "../../../service/sending/mail.ts";
import { parsePublicUrl } from "./address.ts";

export type MailSettings = Pick<ServiceOptions, "mail" | "maxAgeSeconds" | "dailyLimit" | "onUnknown" | "sender">;

const ON_UNKNOWN = ["hold", "resend"] as const;
const CONNECTIONS_MAX = 100;
const DEFAULTS = { rate: "10/s", connections: "4", maxAge: "3d", onUnknown: "hold" } as const;

/** The defaults apply only with a mail server, so they aren't set by the parser. */
export const MAIL_FLAGS = recordsOf({
  smtp: {
    value: "url",
    text: "mail server, such as smtp://user:password@host",
    otherwise: "none; mail stays in outbox/",
    environment: "SURVEYCTL_SMTP",
  },
  smtpFile: { value: "file", text: "file with that URL, to keep it out of process lists" },
  smtpFrom: { value: "sender", text: "sender, such as 'Acme <survey@example.com>'; required with a mail server" },
  smtpReplyTo: { value: "email", text: "where replies to surveys go" },
  smtpRate: { value: "limit", text: "maximum rate of messages, such as 10/s or 600/h", otherwise: DEFAULTS.rate },
  smtpConnections: { value: "number", text: "maximum connections", otherwise: DEFAULTS.connections },
  bounceAddress: { value: "email", text: "envelope sender; {token} is replaced per message" },
  dkimKey: { value: "file", text: "RSA key that signs mail (PEM)", otherwise: "none; mail is not signed here" },
  dkimSelector: { value: "name", text: "selector of the key's DNS record" },
  dkimDomain: { value: "name", text: "signing domain", otherwise: "the sender's" },
  onUnknown: {
    value: "action",
    text: "what to do with messages that may have arrived: hold them until you decide, or resend them",
    choices: ON_UNKNOWN,
    otherwise: DEFAULTS.onUnknown,
  },
  maxAge: {
    value: "duration",
    text: "do not send messages that are overdue by more than this",
    otherwise: DEFAULTS.maxAge,
  },
  dailyLimit: { value: "number", text: "maximum surveys and reminders per project and day", otherwise: "no limit" },
  onlyTo: { value: "pattern", text: "hold messages to other addresses, such as *@example.org" },
});

export async function readMailSettings(
  { env }: Deps,
  flags: Flags,
): Promise<Required<Pick<MailSettings, "mail" | "sender">>> {
  const sender = { ...readSender(flags), footer: null };
  const pace = { rate: readRate(flags), connections: readConnections(flags) };
  const url = await readUrl(env, flags);
  if (url !== null) return { mail: await readMail(url, sender.from, flags, pace), sender };
  refuseWithout("--smtp", SMTP_HINT, SMTP_ONLY, flags);
  return { mail: null, sender };
}

function readSender(flags: Flags) {
  const { address: from = null, name: senderName = null } = flags.parse("--smtp-from", parseSender) ?? {};
  const replyTo = flags.parse("--smtp-reply-to", parseAddress);
  return { from, senderName, replyTo, bounceAddress: flags.parse("--bounce-address", parseAddress) };
}

const SMTP_HINT = "use --smtp URL or SURVEYCTL_SMTP";
export const SMS_HINT = "use --sms-gateway URL or SURVEYCTL_SMS_GATEWAY";
const SMTP_ONLY = ["--smtp-rate", "--smtp-connections", "--dkim-key", "--dkim-selector", "--dkim-domain"] as const;

export function readSendingRules(
  flags: Flags,
  isSending: boolean,
): Pick<MailSettings, "maxAgeSeconds" | "dailyLimit" | "onUnknown"> {
  const maxAgeSeconds = flags.parse("--max-age", parseDuration);
  const onUnknown = flags.parse("--on-unknown", (text, flag) => parseChoice(text, flag, ON_UNKNOWN));
  if (!isSending) refuseWithout("--smtp or --sms-gateway", `${SMTP_HINT}; ${SMS_HINT}`, ["--only-to"], flags);
  return {
    // Without a mail server or gateway, surveys become files, and overdue ones are held back only if --max-age is
    // given.
    maxAgeSeconds: maxAgeSeconds ?? (isSending ? parseDuration(DEFAULTS.maxAge, "--max-age") : null),
    dailyLimit: flags.parse("--daily-limit", parseDailyLimit),
    onUnknown: onUnknown ?? DEFAULTS.onUnknown,
  };
}

/** Refuses flags that need another setting. Ignoring `--only-to`, for example, could mail the wrong people. */
export function refuseWithout(needed: string, hint: string, names: readonly string[], flags: Flags): void {
  const given = names.find((flag) => flags.text(flag) !== null || flags.all(flag).length > 0);
  if (given !== undefined) throw new UsageError(`${given} requires ${needed}`, { hint });
}

const LATER: ReadonlySet<string> = new Set([
  "--smtp-connections",
  "--on-unknown",
  "--max-age",
  "--daily-limit",
  "--only-to",
]);

export const ONE_MAIL_FLAGS: readonly FlagRecord[] = MAIL_FLAGS.filter(
  ({ flag }) => !LATER.has(flag) && flag !== "--smtp-rate",
);

export const SETUP_FLAGS: readonly FlagRecord[] = [
  ...MAIL_FLAGS.filter(({ flag }) => !LATER.has(flag)),
  { flag: "--public-url", value: "url", text: "URL of the service as clients see it, such as a proxy's" },
];

export interface GivenSetup extends MailSetup {
  readonly senderName: string | null;
  readonly replyTo: string | null;
}

/** Returns messages for settings that `readMailSettings` would refuse. Throws UsageError for values it can't parse. */
export async function readMailSetup({ env }: Deps, flags: Flags): Promise<GivenSetup> {
  const sender = readSender(flags);
  const chosen = await valueOrMessage(async () => {
    const url = await readUrl(env, flags);
    return url === null ? null : readServer(url);
  });
  const isFound = chosen !== null && typeof chosen !== "string";
  const rate = readRate(flags);
  return {
    ...sender,
    publicUrl: flags.parse("--public-url", parsePublicUrl),
    server: isFound ? chosen.server : chosen,
    certificates: isFound ? chosen.certificates : null,
    rate: isFound ? rate : null,
    dkim: await valueOrMessage(() => readDkim(sender.from ?? "", flags)),
  };
}

async function valueOrMessage<Value>(read: () => Promise<Value>): Promise<Value | string> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message;
  }
}

interface Secret {
  readonly text: string;
  /** Messages name the flag or file, because they must not quote a secret. */
  readonly place: string;
}

function readUrl(env: Deps["env"], flags: Flags): Promise<Secret | null> {
  if (flags.has("--smtp") && flags.has("--smtp-file"))
    throw new UsageError("--smtp and --smtp-file cannot be used together");
  return readSecret(env, flags, "--smtp", "SURVEYCTL_SMTP");
}

export async function readSecret(
  env: Deps["env"],
  flags: Flags,
  flag: string,
  variable: string,
): Promise<Secret | null> {
  const [given, file] = [flags.text(flag), flags.text(`${flag}-file`)];
  if (given !== null) return { text: given, place: flag };
  if (file !== null) return { text: (await readFlagFile(`${flag}-file`, file)).trim(), place: `${flag}-file ${file}` };
  const fallback = env[variable] ?? "";
  return fallback === "" ? null : { text: fallback, place: variable };
}

async function readMail(
  url: Secret,
  from: string | null,
  flags: Flags,
  pace: Pick<MailOptions, "rate" | "connections">,
): Promise<MailOptions> {
  if (from === null) throw new UsageError(`${url.place} requires --smtp-from`);
  return {
    ...(await readServer(url)),
    ...pace,
    dkim: await readCoveringDkim(from, flags),
    onlyTo: flags.text("--only-to"),
  };
}

async function readServer({ text, place }: Secret): Promise<Pick<MailOptions, "server" | "certificates">> {
  const { InvalidSmtpUrlError, parseSmtpUrl, readCertificates } =
    await import("../../../service/delivery/smtp/smtp-url.ts");
  try {
    const server = parseSmtpUrl(text);
    return { server, certificates: await readCertificates(server) };
  } catch (error) {
    if (!(error instanceof InvalidSmtpUrlError)) throw error;
    throw new UsageError(`${place}: ${error.message}`, { cause: error });
  }
}

function readRate(flags: Flags): MailOptions["rate"] {
  const limit = flags.parse("--smtp-rate", parseRateLimit) ?? parseRateLimit(DEFAULTS.rate, "--smtp-rate");
  return { count: limit.requests, perSeconds: limit.periodSeconds };
}

function readConnections(flags: Flags): number {
  const range = { min: 1, max: CONNECTIONS_MAX };
  const connections = flags.parse("--smtp-connections", (value, flag) => parseInteger(value, flag, range));
  return connections ?? Number(DEFAULTS.connections);
}

/** A signature counts only if its domain is aligned with From (RFC 7489, 3.1.1). */
async function readCoveringDkim(from: string, flags: Flags): Promise<MailOptions["dkim"]> {
  const key = await readDkim(from, flags);
  if (key === null) return null;
  const { areAligned } = await import("../../../service/delivery/doctor/finding.ts");
  if (areAligned(key.domain, from.slice(from.lastIndexOf("@") + 1))) return key;
  throw new UsageError(`--dkim-domain ${key.domain} does not cover the sender ${from}`);
}

async function readDkim(from: string, flags: Flags): Promise<MailOptions["dkim"]> {
  const [file, selector, domain] = [
    flags.text("--dkim-key"),
    flags.text("--dkim-selector"),
    flags.text("--dkim-domain"),
  ];
  if (file === null) {
    const orphan = selector === null ? (domain === null ? null : "--dkim-domain") : "--dkim-selector";
    if (orphan !== null) throw new UsageError(`${orphan} requires --dkim-key`);
    return null;
  }
  if (selector === null) throw new UsageError("--dkim-key requires --dkim-selector");
  const { checkDkimKey, DkimKeyError, readDkimKey } = await import("../../../service/delivery/mail/dkim.ts");
  const pem = await readFlagFile("--dkim-key", file);
  try {
    const key = readDkimKey(pem, { selector, domain: domain ?? from.slice(from.lastIndexOf("@") + 1) });
    checkDkimKey(key);
    return key;
  } catch (error) {
    if (!(error instanceof DkimKeyError)) throw error;
    throw new UsageError(`--dkim-key: ${error.message}`, { cause: error });
  }
}

function parseSender(text: string, place: string): { readonly address: string; readonly name: string | null } {
  const [, quoted, plain = "", address] = /^(?:"([^"]*)"|([^<>"]*?))\s*<([^<>]*)>$/.exec(text.trim()) ?? [];
  if (address === undefined) return { address: parseAddress(text, place), name: null };
  return { address: parseAddress(address, place), name: (quoted ?? plain).trim() || null };
}

function parseAddress(text: string, place: string): string {
  if (!/^[^\s<>@,;:"]+@[^\s<>@,;:"]+$/.test(text)) throw badValue(place, text, "an email address");
  return text;
}
