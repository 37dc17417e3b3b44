/** `metrics --alarm FILE`: for cron, whether the score is below a target or its first answers (exit status 6). */
import type { Client } from "../../../client/client.ts";
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from "../../../contract/json.ts";
import { ALARM_ANSWERS_MIN, type AlarmCheck, checkAlarm, visibleFall } from "../../../insight/alarm.ts";
import { countAnswers, netPromoterScore, type ScoreCounts } from "../../../insight/interval.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { type Connection, type Deps, withClient } from "../../command/deps.ts";
import { formatCount, writeNote } from "../../command/notes.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import { AlarmError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { readIfThere } from "../../export/increment.ts";
import { tryPlace, writeSmallFile } from "../../export/output.ts";
import { toPoints } from "../../render/columns.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import { createTimeFormatter } from "../../render/time.ts";
import { ALARM } from "./metrics-resource.ts";
import { kindOf, scoreOf } from "./read-responses.ts";
import { countsOf } from "./statistics.ts";

export interface AlarmOptions {
  readonly file: string;
  /** Unix seconds; null: from the file's first run on. */
  readonly since: number | null;
  /** As it was typed: the same from run to run, as `7d` is. */
  readonly sinceText: string;
  readonly trend: string | null;
  /** Points; null: the score of the first twenty answers. */
  readonly target: number | null;
  readonly confidence: number;
}

/** Facts that must be the same in every run that continues with one file. */
interface Identity {
  readonly base_url: string;
  readonly key: string;
  readonly trend: string;
  readonly since: string;
}

interface AlarmState {
  readonly identity: Identity;
  /** Unix seconds: answers at or after count. */
  readonly since: number;
  /** The first twenty answers; null while there are fewer, and where a target made them unnecessary. */
  readonly baseline: ScoreCounts | null;
}

/** Throws AlarmError, once the state is written and the numbers shown, when the score has fallen. */
export async function runAlarm(deps: Deps, options: AlarmOptions): Promise<ExitCode> {
  checkColumns(deps, ALARM);
  const text = await readIfThere("--alarm", options.file);
  const known = text === null ? null : parseState(text, options.file);
  await tryPlace(deps, options.file);
  const { state, check } = await withClient(deps, (client, connection) =>
    withRefusals(look(deps, options, { client, connection, known }), noTrend(options.trend)),
  );
  if (JSON.stringify(state) !== JSON.stringify(known)) await writeSmallFile(deps, options.file, formatState(state));
  const { n, nps, target, limit, fires } = check;
  const json = { since: state.since, n, nps, target, limit, alarm: fires };
  await writeRecord(deps, ALARM, { json, text: JSON.stringify(json) });
  if (target === null)
    await writeNote(deps, `${n} of the first ${ALARM_ANSWERS_MIN} answers, which later ones are compared with`);
  else if (known?.baseline == null && state.baseline !== null)
    await writeNote(deps, describeBaseline(state.baseline, options.confidence));
  else if (n < ALARM_ANSWERS_MIN)
    await writeNote(deps, `${n} of the ${ALARM_ANSWERS_MIN} answers that the alarm needs`);
  if (fires) throw new AlarmError(await describeFall(deps, state.since, check, options));
  return EXIT.done;
}

interface Looking {
  readonly client: Client;
  readonly connection: Connection;
  readonly known: AlarmState | null;
}

interface Looked {
  readonly state: AlarmState;
  readonly check: Omit<AlarmCheck, "target"> & { readonly target: number | null };
}

async function look(deps: Deps, options: AlarmOptions, { client, connection, known }: Looking): Promise<Looked> {
  const { trend, target, confidence, sinceText } = options;
  const { account } = connection;
  const identity: Identity = {
    base_url: account?.place ?? client.baseUrl,
    key: (await account?.keyFingerprint()) ?? "",
    trend: trend ?? "",
    since: sinceText,
  };
  if (known !== null) checkIdentity(known.identity, identity, options.file);
  const since = known?.since ?? options.since ?? unixSeconds(deps.clock);
  const { json } = await client.getMetrics({ since, trend }, { signal: deps.signal });
  const counts = countsOf(json);
  if (counts === null) throw new UsageError("--alarm: the service sends no counts of promoters and detractors");
  const n = countAnswers(counts);
  const needsBaseline = target === null && known?.baseline == null && n >= ALARM_ANSWERS_MIN;
  const baseline = needsBaseline ? await readFirst(deps, client, { since, trend }) : (known?.baseline ?? null);
  const state = { identity, since, baseline };
  const reference = target === null ? (baseline === null ? null : { baseline }) : { target };
  if (reference === null) return { state, check: { n, nps: null, target: null, limit: null, fires: false } };
  return { state, check: checkAlarm({ counts, reference, confidence }) };
}

/** The first twenty answers; null where the list has fewer than the service counts. */
async function readFirst(
  { signal }: Deps,
  client: Client,
  { since, trend }: { readonly since: number; readonly trend: string | null },
): Promise<ScoreCounts | null> {
  const counts = { detractors: 0, passives: 0, promoters: 0 };
  for await (const { rows } of client.listResponses({ since, trend, per_page: ALARM_ANSWERS_MIN }, { signal }))
    for (const row of rows) {
      const score = scoreOf(row);
      if (score !== null) counts[kindOf(score)] += 1;
      if (countAnswers(counts) === ALARM_ANSWERS_MIN) return counts;
    }
  return null;
}

const MORE_ANSWERS = [100, 1000] as const;

/** Twenty answers are a rough estimate: the size of the falls that show is said when it is made. */
function describeBaseline(baseline: ScoreCounts, confidence: number): string {
  const score = toPoints(netPromoterScore(baseline) ?? 0);
  const [first, ...later] = MORE_ANSWERS.map((answers) => {
    return { points: Math.ceil(visibleFall(baseline, answers, confidence)), answers: formatCount(answers) };
  });
  const others = later.map(({ points, answers }) => `, one of ${points} after ${answers}`).join("");
  const falls = `a fall of about ${first?.points} points shows after ${first?.answers} more answers${others}`;
  return `NPS ${score} of the first ${countAnswers(baseline)} answers is the baseline: ${falls}; --target shows smaller ones`;
}

async function describeFall(
  { clock, options }: Deps,
  since: number,
  { nps, target, n }: Looked["check"],
  { target: typed, confidence }: Pick<AlarmOptions, "target" | "confidence">,
): Promise<string> {
  const { toPercent } = await import("../../render/human.ts");
  const write = createTimeFormatter({ format: "local", zone: options.timeZone, now: unixSeconds(clock) });
  const from = write(since).replace(/ 00:00:00$/, "");
  const [now, then] = [nps ?? 0, target ?? 0].map(toPoints);
  // A score below a target may never have been above it.
  const what = typed === null ? "the score has fallen" : "the score is below the target";
  return `${what}: NPS ${now} since ${from}, against ${then} (n ${n}, ${toPercent(confidence)} at all times)`;
}

const FORMAT_VERSION = 1;

function formatState(state: AlarmState): string {
  return `${JSON.stringify({ surveyctl_alarm_state: FORMAT_VERSION, ...state })}\n`;
}

function parseState(text: string, file: string): AlarmState {
  const value = parseJsonObject(text);
  if (value?.["surveyctl_alarm_state"] !== FORMAT_VERSION)
    throw refuseState(`${file} is not the state of an alarm`, file);
  const { since, baseline = null } = value;
  const [identity, counts] = [parseIdentity(value["identity"]), parseCounts(baseline)];
  if (identity === null || typeof since !== "number" || !Number.isSafeInteger(since) || (baseline !== null && !counts))
    throw refuseState(`${file} is damaged`, file);
  return { identity, since, baseline: counts };
}

function parseIdentity(value: Json | undefined): Identity | null {
  if (!isJsonObject(value)) return null;
  const { base_url, key, trend, since } = value;
  const areTexts =
    typeof base_url === "string" && typeof key === "string" && typeof trend === "string" && typeof since === "string";
  return areTexts ? { base_url, key, trend, since } : null;
}

function parseCounts(value: Json): ScoreCounts | null {
  const { detractors, passives, promoters }: JsonObject = isJsonObject(value) ? value : {};
  const all = [detractors, passives, promoters];
  const areCounts = all.every((count) => typeof count === "number" && Number.isSafeInteger(count) && count >= 0);
  const counts = { detractors, passives, promoters } as ScoreCounts;
  return areCounts && countAnswers(counts) === ALARM_ANSWERS_MIN ? counts : null;
}

const MEANINGS: Readonly<Record<keyof Identity, string>> = {
  base_url: "another service",
  key: "another account (the key is not the same)",
  trend: "another --trend",
  since: "another --since",
};

function checkIdentity(before: Identity, now: Identity, file: string): void {
  for (const name of ["base_url", "key", "trend", "since"] as const) {
    if (before[name] === now[name]) continue;
    const difference = name === "key" ? "" : `: ${before[name] || "none"} then, ${now[name] || "none"} now`;
    throw refuseState(`${file} belongs to ${MEANINGS[name]}${difference}`, file);
  }
}

function refuseState(message: string, file: string): UsageError {
  return new UsageError(`--alarm: ${message}`, { hint: `to start over, use another file or delete ${file}` });
}
