import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { formatSpans } from "../../contract/questions/questions.ts";
import { type Platform, PLATFORMS } from "../../contract/resources.ts";
import { formatScoreSpan } from "../../contract/text/score-span.ts";
import { emailKey } from "../../contract/text/email.ts";
import { addTrend, removeTrend } from "./answers/trends.ts";
import { WEEKDAYS } from "./windows/windows.ts";
import { isSlackTarget, shownTarget } from "./webhooks/digest-targets.ts";
import { addDigest, formatMinute } from "./delivery/digests.ts";
import { changeReminder, readReminder, type ReminderSettings } from "./delivery/reminders.ts";
import { InvalidError } from "./errors.ts";
import type { DigestRow, ProjectRow, Transaction, Trend, WebhookRow } from "./ports.ts";
import {
  applyQuestions,
  type ConfigurableQuestion,
  configuredQuestions,
  type ConfiguredQuestion,
} from "./questions/configure.ts";
import { configureAutopilot, readAutopilotSettings, showAutopilot } from "./surveys/autopilot/autopilot-settings.ts";
import type { ShownAutopilot } from "./surveys/autopilot/autopilot-settings.ts";
import { WEBHOOK_EVENTS } from "./webhooks/webhook.ts";
import { SIGNATURE_HEADER } from "./webhooks/signature-settings.ts";
import { addWebhook, changeWebhook, removeWebhook } from "./webhooks/webhooks.ts";
import { changeBrand, describeLogo, readBrand, readLogo } from "./projects/brand.ts";
import { setThrottle } from "./projects/projects.ts";
import {
  changeSettings,
  type ConfiguredSettings,
  isZone,
  readSettings,
  toConfiguredSettings,
  toProjectSettings,
} from "./projects/settings.ts";
import { addTexts, storeTexts, type ProjectTexts, readTexts, type WantedTexts } from "./projects/texts.ts";

type ConfiguredBrand = Readonly<Record<"name" | "color" | "logo", string | null>>;
type ConfiguredTrend = Pick<Trend, "name" | "where">;
type ConfiguredWebhook = Readonly<ReturnType<typeof toConfigured>>;

/** `every` is a weekday, `at` a time such as `08:00`; null for `tz` uses the project's time zone. */
interface ConfiguredDigest {
  readonly target: string;
  readonly every: string;
  readonly at: string;
  readonly tz: string | null;
  readonly allow_private?: boolean;
}

export interface ProjectConfiguration {
  readonly settings: ConfiguredSettings;
  readonly throttle: number | null;
  readonly reminder: ReminderSettings;
  readonly autopilot: Readonly<Record<Platform, ShownAutopilot>>;
  readonly brand: ConfiguredBrand;
  readonly texts: readonly ProjectTexts[];
  readonly questions: readonly ConfiguredQuestion[];
  readonly trends: readonly ConfiguredTrend[];
  readonly webhooks: readonly ConfiguredWebhook[];
  readonly digests: readonly ConfiguredDigest[];
}

/** Omitted settings keep their value; lists replace the stored ones. Null resets a value. */
export interface WantedConfiguration {
  readonly settings?: Partial<ConfiguredSettings>;
  readonly throttle?: number | null;
  readonly reminder?: Partial<ReminderSettings>;
  readonly autopilot?: { readonly [Name in Platform]?: Partial<ShownAutopilot> };
  readonly brand?: Partial<ConfiguredBrand>;
  readonly texts?: readonly WantedTexts[];
  readonly questions?: readonly ConfigurableQuestion[];
  readonly trends?: readonly ConfiguredTrend[];
  readonly webhooks?: readonly WantedWebhook[];
  readonly digests?: readonly WantedDigest[];
}

type WantedDigest = Pick<ConfiguredDigest, "target" | "every"> & Partial<ConfiguredDigest>;
type WantedWebhook = Pick<ConfiguredWebhook, "url"> & Partial<ConfiguredWebhook>;

/** A value that exists on only one side is null on the other. Throttle and frequencies are in seconds. */
interface ConfigurationChange {
  /** For example `autopilot.email.active` or `trends["Pro"].where`. */
  readonly key: string;
  readonly from: Json;
  readonly to: Json;
}

/** `path` names the rejected value; list positions start at 0. */
export class RefusedConfigurationError extends InvalidError {
  constructor(path: readonly string[], message: string) {
    super({ [path.join(".")]: [message] }, message);
  }
}

/** Omits digests to Slack, because their URLs are secrets and don't belong in files. */
export async function readConfiguration(tx: Transaction, project: ProjectRow): Promise<ProjectConfiguration> {
  const { digests, ...all } = await readAll(tx, project);
  return { ...all, digests: digests.filter(({ target }) => !isSlackTarget(target)) };
}

async function readAll(tx: Transaction, project: ProjectRow): Promise<ProjectConfiguration> {
  const settings = toConfiguredSettings(await readSettings(tx, project));
  const brand = await readBrand(tx, project);
  const logo = brand.logo === null ? null : await readLogo(tx, brand.logo);
  const throttle = (await tx.projects.byId(project.id))?.throttleSeconds ?? null;
  return {
    settings,
    throttle,
    reminder: await readReminder(tx, project),
    autopilot: {
      email: showAutopilot(await readAutopilotSettings(tx, project, "email")),
      sms: showAutopilot(await readAutopilotSettings(tx, project, "sms")),
    },
    brand: {
      name: brand.name,
      color: brand.accent?.color ?? null,
      logo: logo === null ? null : Buffer.from(logo.bytes).toString("base64"),
    },
    texts: await readTexts(tx, project),
    questions: await configuredQuestions(tx, project),
    trends: (await tx.trends.list(project.id)).map(({ name, where }) => ({ name, where })),
    webhooks: (await tx.webhooks.list(project.id)).map(toConfigured),
    digests: (await wantedDigests(tx, project)).map(toConfiguredDigest),
  };
}

function toConfigured({ url, events, scores, format, signatureHeader, allowPrivate, insecureHttp }: WebhookRow) {
  return {
    url,
    events,
    scores,
    format,
    signature_header: signatureHeader,
    allow_private: allowPrivate,
    insecure_http: insecureHttp,
  };
}

export interface ConfigurationTools {
  readonly own: readonly string[];
  readonly newSecret: () => string;
}

export interface AppliedConfiguration {
  readonly changes: readonly ConfigurationChange[];
  /** Removed list items, such as `webhooks["https://…"]`, and texts, such as `texts["de"].subject`. */
  readonly removed: readonly string[];
  readonly secrets: readonly { readonly url: string; readonly secret: string }[];
}

export async function applyConfiguration(
  tx: Transaction,
  project: ProjectRow,
  wanted: WantedConfiguration,
  tools: ConfigurationTools,
): Promise<AppliedConfiguration> {
  const old = await readAll(tx, project);
  const { settings, throttle, reminder, autopilot, brand, texts, questions, trends, webhooks, digests } = wanted;
  if (settings !== undefined)
    await at(["settings"], async () => changeSettings(tx, project, toProjectSettings(settings)));
  if (throttle !== undefined && throttle !== old.throttle)
    await at(["throttle"], () => setThrottle(tx, project, throttle));
  if (reminder !== undefined) await at(["reminder"], () => changeReminder(tx, project, reminder));
  for (const platform of PLATFORMS) {
    const chosen = autopilot?.[platform];
    if (chosen !== undefined)
      await at(["autopilot", platform], () => configureAutopilot(tx, project, platform, chosen));
  }
  if (brand !== undefined) await at(["brand"], () => changeBrand(tx, project, toBrandChange(brand, old.brand)));
  if (texts !== undefined) await applyTexts(tx, project, texts);
  if (questions !== undefined)
    await at(["questions"], () =>
      applyQuestions(tx, project, questions, (index, work) => at(["questions", String(index)], work)),
    );
  if (trends !== undefined) await applyTrends(tx, project, trends);
  const secrets = webhooks === undefined ? [] : await applyWebhooks(tx, project, webhooks, tools);
  if (digests !== undefined) await applyDigests(tx, project, digests);
  const [before, after] = [flatten(old), flatten(await readAll(tx, project))];
  const kept = flattenEntries(after);
  const removed = [...flattenEntries(before)].filter((entry) => !kept.has(entry));
  return { changes: differences(before, after), removed, secrets };
}

/** Prefixes the attribute names in errors with `path`. */
async function at<Result>(path: readonly string[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InvalidError) || error instanceof RefusedConfigurationError) throw error;
    const [[attribute, phrases] = [path.at(-1) ?? "", []]] = Object.entries(error.errors);
    const full = attribute === path.at(-1) ? path : [...path, attribute];
    throw new RefusedConfigurationError(full, phrases.join("; "));
  }
}

/** Omits an unchanged logo, because storing it again would change its URL. */
function toBrandChange({ logo, ...rest }: Partial<ConfiguredBrand>, old: ConfiguredBrand) {
  if (logo === undefined || logo === old.logo) return rest;
  return { ...rest, logo: logo === null ? null : Buffer.from(logo, "base64") };
}

async function applyTexts(tx: Transaction, project: ProjectRow, wanted: readonly WantedTexts[]): Promise<void> {
  await storeTexts(tx, project, []);
  for (const [index, texts] of wanted.entries()) await at(["texts", String(index)], () => addTexts(tx, project, texts));
}

/** A trend's filter can't change: a different filter is a new trend with a new id. */
async function applyTrends(tx: Transaction, project: ProjectRow, wanted: readonly ConfiguredTrend[]): Promise<void> {
  const left = [...(await tx.trends.list(project.id))];
  const missing = [...wanted.entries()].filter(([, trend]) => {
    const found = left.findIndex(
      (each) => each.name === trend.name && isDeepStrictEqual({ ...each.where }, { ...trend.where }),
    );
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
  for (const { id } of left) await at(["trends"], () => removeTrend(tx, project, String(id)));
  for (const [index, { name, where }] of missing)
    await at(["trends", String(index)], () => addTrend(tx, project, name, where));
}

/** Webhooks are matched by URL and format; duplicates are matched in order. */
async function applyWebhooks(
  tx: Transaction,
  project: ProjectRow,
  wanted: readonly WantedWebhook[],
  { own, newSecret }: ConfigurationTools,
): Promise<AppliedConfiguration["secrets"]> {
  const left = [...(await tx.webhooks.list(project.id))];
  const secrets: { url: string; secret: string }[] = [];
  for (const [index, webhook] of wanted.entries()) {
    const { url, format } = webhook;
    const found = left.findIndex((each) => each.url === url && (format === undefined || each.format === format));
    const [old = null] = found < 0 ? [] : left.splice(found, 1);
    await at(["webhooks", String(index)], async () => {
      const full = toNewWebhook({ ...NEW_WEBHOOK, ...(old === null ? {} : toConfigured(old)), ...webhook });
      if (old !== null) return changeWebhook(tx, project, old, full, own);
      const added = await addWebhook(tx, project, { ...full, secret: newSecret() }, own);
      secrets.push({ url: added.url, secret: added.secret });
    });
  }
  for (const { id } of left) await removeWebhook(tx, project, String(id));
  return secrets;
}

/** Omits readers who unsubscribed by e-mail, so that they stay unsubscribed. */
async function wantedDigests(tx: Transaction, project: ProjectRow): Promise<DigestRow[]> {
  return (await tx.digests.list(project.id)).filter(({ unsubscribedAt }) => unsubscribedAt === null);
}

function toConfiguredDigest({ email, weekday, minute, zone, allowPrivate }: DigestRow): ConfiguredDigest {
  const schedule = { target: email, every: WEEKDAYS[weekday] ?? "", at: formatMinute(minute), tz: zone };
  return isSlackTarget(email) ? { ...schedule, allow_private: allowPrivate } : schedule;
}

async function applyDigests(tx: Transaction, project: ProjectRow, wanted: readonly WantedDigest[]): Promise<void> {
  const left = new Map((await wantedDigests(tx, project)).map((digest) => [emailKey(digest.email), digest]));
  for (const [index, digest] of wanted.entries()) {
    const { target, every, at: time, tz, allow_private: allowPrivate } = { ...NEW_DIGEST, ...digest };
    const old = left.get(emailKey(target));
    left.delete(emailKey(target));
    const [hours = 0, minutes = 0] = time.split(":").map(Number);
    const timing = { weekday: WEEKDAYS.findIndex((day) => day === every), minute: hours * 60 + minutes, zone: tz };
    const { weekday, minute, zone } = old ?? {};
    if (old?.allowPrivate === allowPrivate && isDeepStrictEqual({ weekday, minute, zone }, timing)) continue;
    await at(["digests", String(index)], async () => {
      if (tz !== null && !isZone(tz)) throw new InvalidError({ tz: ["is not a time zone"] });
      return addDigest(tx, project, target, { ...timing, allowPrivate });
    });
  }
  for (const { id, email } of left.values()) if (!isSlackTarget(email)) await tx.digests.delete(project.id, id);
}

const NEW_DIGEST = { at: "08:00", tz: null, allow_private: false };

const NEW_WEBHOOK: Omit<ConfiguredWebhook, "url"> = {
  events: WEBHOOK_EVENTS,
  scores: null,
  format: "json",
  signature_header: SIGNATURE_HEADER,
  allow_private: false,
  insecure_http: false,
};

function toNewWebhook({ signature_header, allow_private, insecure_http, ...rest }: ConfiguredWebhook) {
  return { ...rest, signatureHeader: signature_header, allowPrivate: allow_private, insecureHttp: insecure_http };
}

type Rows = ReadonlyMap<string, Json>;

function differences(before: Rows, after: Rows): ConfigurationChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [from, to] = [before.get(key) ?? null, after.get(key) ?? null];
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ key, from, to }];
  });
}

const ENTRY = /^(?:texts\[.*|\w+\["(?:[^"\\]|\\.)*"(?:#\d+)?\])/s;

function flattenEntries(rows: Rows): ReadonlySet<string> {
  return new Set([...rows].flatMap(([key, value]) => (value === null ? [] : (ENTRY.exec(key) ?? []))));
}

function flatten({
  throttle,
  reminder,
  brand,
  texts,
  questions,
  trends,
  webhooks,
  digests,
  ...sections
}: ProjectConfiguration): Map<string, Json> {
  const rows = new Map<string, Json>([["throttle", throttle ?? "off"]]);
  rows.set("reminder.after", reminder.after ?? "off").set("reminder.channel", reminder.channel);
  const add = (prefix: string, value: Json): void => {
    if (!isJsonObject(value)) rows.set(prefix, value);
    else for (const [key, inner] of Object.entries(value)) add(`${prefix}.${key}`, inner);
  };
  add("settings", toJson(sections.settings));
  add("autopilot", toJson(sections.autopilot));
  add("brand", toJson({ ...brand, logo: brand.logo === null ? null : describeLogo(brand.logo) }));
  const names = createNames();
  for (const { locale, score, ...words } of texts)
    add(names("texts", [locale, score].filter((part) => part !== null).join(" ")), toJson(words));
  for (const [index, { id, texts: translations, scale, to, choices, ...rest }] of questions.entries()) {
    const spans = { scale: scale === null ? null : formatSpans([scale]), to: to === null ? null : formatSpans(to) };
    const json = { ...rest, choices: [...choices], ...spans, position: index + 1 };
    add(names("questions", id), toJson(json));
    for (const [locale, given] of Object.entries(translations))
      rows.set(`questions[${JSON.stringify(id)}].texts.${locale}`, { text: given.text, choices: [...given.choices] });
  }
  for (const { name, where } of trends) rows.set(`${names("trends", name)}.where`, { ...where });
  for (const { url, scores, ...rest } of webhooks)
    add(names("webhooks", url), toJson({ ...rest, scores: scores === null ? null : formatScoreSpan(scores) }));
  for (const { target, ...schedule } of digests) add(names("digests", shownTarget(target)), toJson(schedule));
  return rows;
}

const toJson = (value: object): JsonObject => ({ ...value });

/** Returns `trends["Pro"]`, then `trends["Pro"#2]` for the next item with that name. */
function createNames(): (list: string, name: string) => string {
  const seen = new Map<string, number>();
  return (list, name) => {
    const base = `${list}[${JSON.stringify(name)}`;
    const count = (seen.get(base) ?? 0) + 1;
    seen.set(base, count);
    return count === 1 ? `${base}]` : `${base}#${count}]`;
  };
}
