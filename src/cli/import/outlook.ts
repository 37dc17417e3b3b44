/** Rows whose people would be sent no survey, counted before the plan is confirmed. */
import { wayOf } from "../../bulk/import/check/row-kind.ts";
import { decideRows, type RowSource, type RowToSend } from "../../bulk/import/journal/decide-rows.ts";
import type { Client } from "../../client/client.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { ROUTES } from "../../contract/routes.ts";
import { SURVEY_STATUSES, type SurveyStatusName } from "../../contract/text/survey-status.ts";
import { endTogether, inParallel } from "../../runtime/parallel.ts";
import { formatCount } from "../command/notes.ts";
import { createTimeFormatter } from "../render/time.ts";

type Way = "emails" | "texts";

export interface Outlook {
  /** Surveys that would not be scheduled. */
  readonly emails: number;
  readonly texts: number;
  /** By reason. `paused` are those that would be scheduled and wait. */
  readonly reasons: Readonly<Record<SurveyStatusName, number>>;
  /** When the last throttle ends, Unix seconds; null where none does. */
  readonly throttledUntil: number | null;
}

export interface OutlookOptions {
  readonly client: Pick<Client, "call">;
  /** The rows that are about to be sent. */
  readonly source: RowSource;
  /** The request's body of a row. */
  readonly bodyOf: (row: RowToSend) => JsonObject;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/** One request for each 100 people, to our own service. Throws ClientError. */
export async function readOutlook({ client, concurrency, signal, ...rows }: OutlookOptions): Promise<Outlook> {
  const outlook = {
    emails: 0,
    texts: 0,
    reasons: Object.fromEntries(SURVEY_STATUSES.map((name) => [name, 0])) as Record<SurveyStatusName, number>,
    throttledUntil: null as number | null,
  };
  const take = (way: Way, answer: JsonObject): void => {
    const status = SURVEY_STATUSES.find((name) => name === answer["survey_status"]);
    if (status === undefined) return;
    outlook.reasons[status] += 1;
    if (status !== "paused") outlook[way] += 1;
    const until = answer["survey_status_until"];
    if (status === "throttled" && typeof until === "number")
      outlook.throttledUntil = Math.max(outlook.throttledUntil ?? 0, until);
  };
  await endTogether(signal, (own) =>
    inParallel(askedPeople(rows), concurrency, async (asked) => {
      const body = { people: asked.map(({ person }) => person) };
      const { json } = await client.call({ route: ROUTES.listSurveyStatuses, body, signal: own });
      const answers = Array.isArray(json["people"]) ? json["people"].filter(isJsonObject) : [];
      for (const [at, { way }] of asked.entries()) take(way, answers[at] ?? {});
    }),
  );
  return outlook;
}

interface Asked {
  readonly way: Way;
  readonly person: JsonObject;
}

/** The parts of a body that decide whether a survey is scheduled. */
const ASKED: ReadonlySet<string> = new Set(["email", "phone_number", "channel", "last_sent_at", "delay"]);

async function* askedPeople({ source, bodyOf }: Pick<OutlookOptions, "source" | "bodyOf">): AsyncGenerator<Asked[]> {
  let asked: Asked[] = [];
  for await (const decision of decideRows(source)) {
    const way = decision.kind === "send" ? wayOf(decision.row.values) : "quiet";
    if (decision.kind !== "send" || way === "quiet") continue;
    const given = Object.entries(bodyOf(decision.row));
    asked.push({ way, person: Object.fromEntries(given.filter(([name]) => ASKED.has(name))) });
    if (asked.length < PER_PAGE_MAX) continue;
    yield asked;
    asked = [];
  }
  if (asked.length > 0) yield asked;
}

/** `12 throttled until 2026-12-20 at the latest, 3 unsubscribed`; empty where all would be surveyed. */
export function describeOutlook({ reasons, throttledUntil }: Outlook, zone: string | null): string {
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
