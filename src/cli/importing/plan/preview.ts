import { type SendMode, sendMode } from "../../../bulk/import/check/row-kind.ts";
import { decideRows, type RowSource, type RowToSend } from "../../../bulk/import/journal/decide-rows.ts";
import type { Client } from "../../../client/client.ts";
import { isJsonObject, type Json, type JsonObject, propertyText } from "../../../contract/json.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { PERSON_EXPANSIONS, ROUTES } from "../../../contract/routes.ts";
import { MESSAGE_TEXTS } from "../../../contract/special-properties.ts";
import { SURVEY_STATUSES, type SurveyStatusName } from "../../../contract/text/survey-status.ts";
import { abortTogether, inParallel } from "../../../runtime/parallel.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { toSafeText } from "../../render/safe-text.ts";
import { createTimeFormatter } from "../../render/time.ts";

export interface ImportPreview {
  readonly emails: number;
  readonly texts: number;
  /** `paused` counts surveys that would be scheduled, but held until the pause ends. */
  readonly reasons: Readonly<Record<SurveyStatusName, number>>;
  readonly throttledUntil: number | null;
  readonly changes: ReadonlyMap<string, number>;
}

export interface PreviewOptions {
  readonly client: Pick<Client, "call">;
  readonly source: RowSource;
  readonly bodyOf: (row: RowToSend) => JsonObject;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

export async function previewImport({ client, concurrency, signal, ...rows }: PreviewOptions): Promise<ImportPreview> {
  const preview = {
    emails: 0,
    texts: 0,
    reasons: Object.fromEntries(SURVEY_STATUSES.map((name) => [name, 0])) as Record<SurveyStatusName, number>,
    throttledUntil: null as number | null,
    changes: new Map<string, number>(),
  };
  const takeStatus = (mode: Exclude<SendMode, "quiet">, answer: JsonObject): void => {
    const status = SURVEY_STATUSES.find((name) => name === answer["survey_status"]);
    if (status === undefined) return;
    preview.reasons[status] += 1;
    if (status !== "paused") preview[mode] += 1;
    const until = answer["survey_status_until"];
    if (status === "throttled" && typeof until === "number")
      preview.throttledUntil = Math.max(preview.throttledUntil ?? 0, until);
  };
  await abortTogether(signal, (own) =>
    inParallel(askedPeople(rows), concurrency, async (asked) => {
      const body = { people: asked.map(({ person }) => person), expand: [...PERSON_EXPANSIONS] };
      const { json } = await client.call({ route: ROUTES.listSurveyStatuses, body, signal: own });
      const answers = Array.isArray(json["people"]) ? json["people"].filter(isJsonObject) : [];
      for (const [at, { mode, body: planned }] of asked.entries()) {
        const answer = answers[at] ?? {};
        if (mode !== "quiet") takeStatus(mode, answer);
        for (const name of changedProperties(answer["properties"], planned))
          preview.changes.set(name, (preview.changes.get(name) ?? 0) + 1);
      }
    }),
  );
  return preview;
}

/** Names the stored properties that a request would change, except texts that apply to a single message. */
function changedProperties(
  stored: Json | undefined,
  { properties, replace_properties: replaces }: JsonObject,
): string[] {
  if (!isJsonObject(stored) || !isJsonObject(properties)) return [];
  const after = replaces === true ? properties : { ...stored, ...properties };
  return Object.keys(stored).filter(
    (name) => !MESSAGE_TEXTS.has(name) && propertyText(after, name) !== propertyText(stored, name),
  );
}

interface StatusQuery {
  readonly mode: SendMode;
  readonly person: JsonObject;
  readonly body: JsonObject;
}

const ASKED: ReadonlySet<string> = new Set(["email", "phone_number", "channel", "last_sent_at", "delay"]);

async function* askedPeople({
  source,
  bodyOf,
}: Pick<PreviewOptions, "source" | "bodyOf">): AsyncGenerator<StatusQuery[]> {
  let asked: StatusQuery[] = [];
  for await (const decision of decideRows(source)) {
    if (decision.kind !== "send") continue;
    const mode = sendMode(decision.row.values);
    const body = bodyOf(decision.row);
    if (mode === "quiet" && body["properties"] === undefined) continue;
    const person = Object.fromEntries(Object.entries(body).filter(([name]) => ASKED.has(name)));
    asked.push({ mode, person, body });
    if (asked.length < PER_PAGE_MAX) continue;
    yield asked;
    asked = [];
  }
  if (asked.length > 0) yield asked;
}

export function describePreview({ reasons, throttledUntil }: ImportPreview, zone: string | null): string {
  const day = createTimeFormatter({ format: "local", zone, now: 0 });
  const until =
    throttledUntil === null ? "" : ` until ${day(throttledUntil).slice(0, "2026-12-20".length)} at the latest`;
  const parts: readonly (readonly [count: number, text: string])[] = [
    [reasons.throttled, `throttled${until}`],
    [reasons.pending, "already scheduled"],
    [reasons.unsubscribed, "unsubscribed"],
    [reasons.bounced, "bounced"],
    [reasons.unreachable, "without an address"],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${formatCount(count)} ${text}`)
    .join(", ");
}

export function describeChanges({ changes }: ImportPreview): string[] {
  return [...changes].map(([name, rows]) => `${toSafeText(name)} changes for ${countOf(rows, "person", "people")}`);
}
