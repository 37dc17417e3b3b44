import { quoteText } from "../../../contract/text/invisible.ts";
import { isLoopbackHost } from "../../../runtime/name-resolver.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { badValue, parseChoice, parseInteger, parseKeyValue, parseNames } from "../../args/values.ts";
import type { Deps } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { PAID_FORMATS, SMS_FIELDS, SMS_FORMATS, SMS_MODES } from "../../../service/delivery/sms/formats.ts";
import { readBasic } from "../../../service/delivery/sms/providers/provider.ts";
import type { SmsGateway } from "../../../service/delivery/sms/gateway.ts";
import type { SmsOptions } from "../../../service/sending/sms.ts";
import { parsePublicUrl } from "./address.ts";
import { readSecret, refuseWithout, SMS_HINT } from "./mail.ts";

const DEFAULTS = { format: "json", mode: "link", daily: "200", maxSegments: "3", quiet: "21-8" } as const;
const SEGMENTS_MAX = 10;
const DAILY_MAX = 10_000_000;

const PAID_NAMES = PAID_FORMATS.join(", ").replace(/, (?=\w+$)/, " and ");

/** The defaults apply only with a gateway, so they aren't set by the parser. */
export const SMS_FLAGS: readonly FlagRecord[] = [
  {
    flag: "--sms-gateway",
    value: "url",
    text: "URL of the SMS gateway",
    otherwise: "none; text messages stay in outbox/",
    environment: "SURVEYCTL_SMS_GATEWAY",
  },
  {
    flag: "--sms-format",
    value: "format",
    text: "format of the gateway's API",
    choices: SMS_FORMATS,
    otherwise: DEFAULTS.format,
  },
  {
    flag: "--sms-header",
    value: "header",
    text: "the gateway's credentials, such as 'Authorization: Bearer ...'",
    environment: "SURVEYCTL_SMS_HEADER",
    conflicts: ["--sms-header-file"],
  },
  { flag: "--sms-header-file", value: "file", text: "file with that header, to keep it out of process lists" },
  {
    flag: "--sms-from",
    value: "sender",
    text: `number or name of the sender; required with ${PAID_NAMES}`,
  },
  {
    flag: "--sms-field",
    value: "key=value",
    text: "the gateway's name for the field to, text, from or id, such as to=Dest",
    repeatable: true,
  },
  { flag: "--sms-mode", value: "mode", text: "how people answer", choices: SMS_MODES, otherwise: DEFAULTS.mode },
  {
    flag: "--sms-countries",
    value: "names",
    text: `country codes that texts can go to, such as +49,+1; required with ${PAID_NAMES}`,
    otherwise: "every country",
  },
  { flag: "--sms-daily", value: "number", text: "maximum segments per project and day", otherwise: DEFAULTS.daily },
  { flag: "--sms-max-segments", value: "number", text: "maximum segments per text", otherwise: DEFAULTS.maxSegments },
  {
    flag: "--sms-quiet",
    value: "hours",
    text: "hours without text surveys in the person's time zone, or off",
    otherwise: DEFAULTS.quiet,
  },
  { flag: "--sms-url", value: "url", text: "short URL of the service, for links", otherwise: "--public-url" },
];

const GATEWAY_ONLY = SMS_FLAGS.map(({ flag }) => flag).filter((flag) => flag !== "--sms-gateway");

/** Null without a gateway. Throws UsageError. */
export async function readSmsSettings({ env, options }: Deps, flags: Flags): Promise<SmsOptions | null> {
  const format = flags.parse("--sms-format", (text, flag) => parseChoice(text, flag, SMS_FORMATS)) ?? DEFAULTS.format;
  const fields = readFieldNames(flags);
  const mode = flags.parse("--sms-mode", (text, flag) => parseChoice(text, flag, SMS_MODES)) ?? DEFAULTS.mode;
  const limits = readLimits(flags);
  const linkUrl = flags.parse("--sms-url", parsePublicUrl);
  const url = readUrl(env, flags, options.insecureHttp);
  if (url === null) {
    refuseWithout({ needed: "--sms-gateway", hint: SMS_HINT }, GATEWAY_ONLY, flags);
    return null;
  }
  const { canBeTexted } = await import("../../../service/delivery/sms/gateway.ts");
  const { SMS_PROVIDERS } = await import("../../../service/delivery/sms/providers/providers.ts");
  const isPaid = PAID_FORMATS.some((paid) => paid === format);
  const from = flags.text("--sms-from");
  const header = await readHeader(env, flags);
  if (isPaid && from === null) throw new UsageError(`--sms-format ${format} requires --sms-from`);
  if (isPaid && limits.countries === null) throw new UsageError(`--sms-format ${format} requires --sms-countries`);
  if (isPaid && header === null) throw new UsageError(`--sms-format ${format} requires --sms-header-file`);
  if (mode === "conversation" && !canBeTexted(from))
    throw new UsageError(`--sms-mode conversation: nobody can text back to ${quoteText(from ?? "")}`, {
      hint: "use --sms-from with a phone number, or --sms-mode link",
    });
  if (SMS_PROVIDERS[format].credentials === "fields" && readBasic(header?.value ?? "").user === "")
    throw new UsageError(`--sms-format ${format} requires a header of the form Authorization: Basic …`, {
      hint: "it is the API key, a colon and the API secret, in base64",
    });
  return { gateway: { url, format, header, from, fields }, mode, limits, onlyTo: flags.text("--only-to"), linkUrl };
}

function readLimits(flags: Flags): SmsOptions["limits"] {
  return {
    daily: readNumber(flags, "--sms-daily", DEFAULTS.daily, { min: 1, max: DAILY_MAX }),
    maxSegments: readNumber(flags, "--sms-max-segments", DEFAULTS.maxSegments, { min: 1, max: SEGMENTS_MAX }),
    countries: readCountries(flags),
    quiet: parseQuiet(flags.text("--sms-quiet") ?? DEFAULTS.quiet, "--sms-quiet"),
  };
}

function readNumber(
  flags: Flags,
  flag: string,
  fallback: string,
  range: { readonly min: number; readonly max: number },
): number {
  return flags.parse(flag, (text, place) => parseInteger(text, place, range)) ?? Number(fallback);
}

/** Messages don't repeat the URL, because its query may contain a key. */
function readUrl(env: Deps["env"], flags: Flags, insecureHttp: boolean): string | null {
  const given = flags.text("--sms-gateway");
  const text = given ?? env["SURVEYCTL_SMS_GATEWAY"] ?? "";
  if (text === "" && given === null) return null;
  const place = given === null ? "SURVEYCTL_SMS_GATEWAY" : "--sms-gateway";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new UsageError(`${place}: must be a URL such as https://gateway.example.com/messages`);
  if (url.username !== "" || url.password !== "")
    throw new UsageError(`${place}: must not contain a user or password`, { hint: "use --sms-header-file" });
  if (url.protocol === "http:" && !insecureHttp && !isLoopbackHost(url.hostname))
    throw new UsageError(`${place}: refusing to send texts and credentials over plain http to ${url.host}`, {
      hint: "use https://, or --insecure-http on a trusted network",
    });
  url.hash = "";
  return url.href;
}

async function readHeader(env: Deps["env"], flags: Flags): Promise<SmsGateway["header"]> {
  const given = await readSecret(env, flags, "--sms-header", "SURVEYCTL_SMS_HEADER");
  if (given === null) return null;
  const [, name = "", value = ""] = /^([\w-]+):[ \t]*([\x20-\x7E]+)$/.exec(given.text.trim()) ?? [];
  if (name !== "" && value !== "") return { name, value };
  throw new UsageError(`${given.place}: must be one header, such as Authorization: Bearer …`);
}

function readCountries(flags: Flags): readonly string[] | null {
  const text = flags.text("--sms-countries");
  if (text === null) return null;
  const prefixes = parseNames([text], "--sms-countries");
  const wrong = prefixes.find((prefix) => !/^\+[1-9]\d{0,6}$/.test(prefix));
  if (wrong !== undefined) throw badValue("--sms-countries", wrong, "a prefix such as +49");
  return prefixes;
}

function readFieldNames(flags: Flags): SmsGateway["fields"] {
  const pairs = flags.all("--sms-field").map((text) => {
    const [field, name] = parseKeyValue(text, "--sms-field");
    if (name === "") throw badValue("--sms-field", text, "a field and its name, such as to=Dest");
    return [parseChoice(field, "--sms-field", SMS_FIELDS), name] as const;
  });
  return Object.fromEntries(pairs);
}

const HOUR_MAX = 23;

function parseQuiet(text: string, place: string): SmsOptions["limits"]["quiet"] {
  if (text === "off") return null;
  const [, from = "", to = ""] = /^(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  const hours = { from: Number(from), to: Number(to) };
  if (from !== "" && hours.from <= HOUR_MAX && hours.to <= HOUR_MAX && hours.from !== hours.to) return hours;
  throw badValue(place, text, "two hours such as 21-8, or off");
}
