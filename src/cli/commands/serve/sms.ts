import { quoteText } from "../../../contract/text/invisible.ts";
import { isLoopbackHost } from "../../../runtime/name-resolver.ts";
import type { Flags } from "../../args/flags.ts";
import { badValue, parseChoice, parseInteger, parseKeyValue, parseNames } from "../../args/values.ts";
import type { Deps } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { flagGroup } from "../../kit/flag-spec.ts";
import { PAID_FORMATS, SMS_FIELDS, SMS_FORMATS, SMS_MODES } from "../../../service/delivery/sms/formats.ts";
import { readBasic } from "../../../service/delivery/sms/providers/provider.ts";
import type { SmsGateway } from "../../../service/delivery/sms/gateway.ts";
import type { SmsOptions } from "../../../service/sending/sms.ts";
import { parsePublicUrl } from "./address.ts";
import { readSecret, refuseWithout, SMS_HINT } from "./mail.ts";

const DEFAULTS = { format: "json", mode: "link", daily: 200, maxSegments: 3, quiet: "21-8" } as const;
const SEGMENTS_MAX = 10;
const DAILY_MAX = 10_000_000;

const PAID_NAMES = PAID_FORMATS.join(", ").replace(/, (?=\w+$)/, " and ");

/** The defaults apply only with a gateway, so the flags have none. */
const SMS = flagGroup({
  smsGateway: {
    value: "url",
    text: "URL of the SMS gateway",
    otherwise: "none; text messages stay in outbox/",
    environment: "SURVEYCTL_SMS_GATEWAY",
  },
  smsFormat: {
    value: "format",
    text: "format of the gateway's API",
    choices: SMS_FORMATS,
    otherwise: DEFAULTS.format,
  },
  smsHeader: {
    value: "header",
    text: "the gateway's credentials, such as 'Authorization: Bearer ...'",
    environment: "SURVEYCTL_SMS_HEADER",
    conflicts: ["--sms-header-file"],
  },
  smsHeaderFile: { value: "file", text: "file with that header, to keep it out of process lists" },
  smsFrom: { value: "sender", text: `number or name of the sender; required with ${PAID_NAMES}` },
  smsField: {
    value: "key=value",
    text: "the gateway's name for the field to, text, from or id, such as to=Dest",
    repeatable: true,
    parse: parseField,
  },
  smsMode: { value: "mode", text: "how people answer", choices: SMS_MODES, otherwise: DEFAULTS.mode },
  smsCountries: {
    value: "names",
    text: `country codes that texts can go to, such as +49,+1; required with ${PAID_NAMES}`,
    otherwise: "every country",
    parse: parseCountries,
  },
  smsDaily: {
    value: "number",
    text: "maximum segments per project and day",
    otherwise: `${DEFAULTS.daily}`,
    parse: (text, place) => parseInteger(text, place, { min: 1, max: DAILY_MAX }),
  },
  smsMaxSegments: {
    value: "number",
    text: "maximum segments per text",
    otherwise: `${DEFAULTS.maxSegments}`,
    parse: (text, place) => parseInteger(text, place, { min: 1, max: SEGMENTS_MAX }),
  },
  smsQuiet: {
    value: "hours",
    text: "hours without text surveys in the person's time zone, or off",
    otherwise: DEFAULTS.quiet,
  },
  smsUrl: {
    value: "url",
    text: "short URL of the service, for links",
    otherwise: "--public-url",
    parse: parsePublicUrl,
  },
});

export const SMS_FLAGS = SMS.records;

const GATEWAY_ONLY = SMS_FLAGS.map(({ flag }) => flag).filter((flag) => flag !== "--sms-gateway");

export async function readSmsSettings(deps: Deps, flags: Flags): Promise<SmsOptions | null> {
  const given = await SMS.read(flags, deps);
  const format = given.smsFormat ?? DEFAULTS.format;
  const mode = given.smsMode ?? DEFAULTS.mode;
  const { smsFrom: from, smsCountries: countries } = given;
  const quiet = parseQuiet(given.smsQuiet ?? DEFAULTS.quiet, "--sms-quiet");
  const url = readUrl(deps.env, given.smsGateway, deps.options.insecureHttp);
  if (url === null) {
    refuseWithout("--sms-gateway", SMS_HINT, GATEWAY_ONLY, flags);
    return null;
  }
  const { canBeTexted } = await import("../../../service/delivery/sms/gateway.ts");
  const { SMS_PROVIDERS } = await import("../../../service/delivery/sms/providers/providers.ts");
  const isPaid = PAID_FORMATS.some((paid) => paid === format);
  const header = await readHeader(deps.env, flags);
  if (isPaid && from === null) throw new UsageError(`--sms-format ${format} requires --sms-from`);
  if (isPaid && countries === null) throw new UsageError(`--sms-format ${format} requires --sms-countries`);
  if (isPaid && header === null) throw new UsageError(`--sms-format ${format} requires --sms-header-file`);
  if (mode === "conversation" && !canBeTexted(from))
    throw new UsageError(`--sms-mode conversation: nobody can text back to ${quoteText(from ?? "")}`, {
      hint: "use --sms-from with a phone number, or --sms-mode link",
    });
  if (SMS_PROVIDERS[format].credentials === "fields" && readBasic(header?.value ?? "").user === "")
    throw new UsageError(`--sms-format ${format} requires a header of the form Authorization: Basic …`, {
      hint: "it is the API key, a colon and the API secret, in base64",
    });
  return {
    gateway: { url, format, header, from, fields: Object.fromEntries(given.smsField) },
    mode,
    limits: {
      daily: given.smsDaily ?? DEFAULTS.daily,
      maxSegments: given.smsMaxSegments ?? DEFAULTS.maxSegments,
      countries,
      quiet,
    },
    onlyTo: flags.text("--only-to"),
    linkUrl: given.smsUrl,
  };
}

/** Messages don't repeat the URL, because its query may contain a key. */
function readUrl(env: Deps["env"], given: string | null, insecureHttp: boolean): string | null {
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

function parseCountries(text: string, place: string): readonly string[] {
  const prefixes = parseNames([text], place);
  const wrong = prefixes.find((prefix) => !/^\+[1-9]\d{0,6}$/.test(prefix));
  if (wrong !== undefined) throw badValue(place, wrong, "a prefix such as +49");
  return prefixes;
}

function parseField(text: string, place: string): readonly [(typeof SMS_FIELDS)[number], string] {
  const [field, name] = parseKeyValue(text, place);
  if (name === "") throw badValue(place, text, "a field and its name, such as to=Dest");
  return [parseChoice(field, place, SMS_FIELDS), name];
}

const HOUR_MAX = 23;

function parseQuiet(text: string, place: string): SmsOptions["limits"]["quiet"] {
  if (text === "off") return null;
  const [, from = "", to = ""] = /^(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  const hours = { from: Number(from), to: Number(to) };
  if (from !== "" && hours.from <= HOUR_MAX && hours.to <= HOUR_MAX && hours.from !== hours.to) return hours;
  throw badValue(place, text, "two hours such as 21-8, or off");
}
