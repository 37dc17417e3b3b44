import * as v from "valibot";
import { isE164 } from "../../contract/text/phone.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { resolveDelivery } from "../domain/delivery/deliveries.ts";
import { countDays, type DayCounts, listMerged } from "../domain/delivery/lists/list-deliveries.ts";
import { LISTED_REASONS, LISTED_STATES } from "../domain/delivery/lists/listed.ts";
import { type ListedDelivery, openSources, type Source } from "../domain/delivery/lists/sources.ts";
import { livingSenders } from "../domain/delivery/living.ts";
import {
  explainPerson,
  pauseSending,
  readWaiting,
  releaseAll,
  resumeSending,
  summarizeQueue,
} from "../domain/delivery/oversight.ts";
import { readBudget } from "../domain/delivery/pacing.ts";
import { NotFoundError } from "../domain/errors.ts";
import { parseId } from "../domain/ids.ts";
import type { AttemptRow, DuePage, KeptSender, PageFacts, ProjectRow, Transaction } from "../domain/ports.ts";
import { readWallClock } from "../domain/projects/settings.ts";
import { type ComingSurveys, reckonComing } from "../domain/surveys/autopilot/coming-surveys.ts";
import { eitherAddress, fromText, moment, oneAddress, PAGE, typed } from "./define/fields.ts";
import { defineOperation, type OperationTools, orNull } from "./define/operation.ts";

/** Each day needs a count for every state, so more days per page would delay the service. */
const DAYS_A_PAGE = 31;

const placeInList = typed<{ readonly at: number; readonly id: number }>(
  fromText((text) => {
    const [, at, id = "0"] = /^(\d+)(?::(\d+))?$/.exec(text) ?? [];
    return at === undefined ? null : { at: Number(at), id: Number(id) };
  }),
  "the place after a page",
);

/** `after` is the previous page's `next`. */
const PAGE_FIELDS = {
  state: orNull(v.picklist(LISTED_STATES)),
  reason: orNull(v.picklist(LISTED_REASONS)),
  email: orNull(v.string()),
  phone_number: orNull(v.string()),
  since: orNull(moment),
  until: orNull(moment),
  order: v.optional(v.picklist(["asc", "desc"]), "desc"),
  /** Counts surveys per day in the project's time zone; with `until`, also those that Autopilot will add. */
  by: orNull(v.picklist(["day"])),
  ...PAGE,
  /** Scheduled time and id of the last row, separated by a colon; or the first second of a day. */
  after: orNull(placeInList),
};
type PageInput = v.InferOutput<v.StrictObjectSchema<typeof PAGE_FIELDS, undefined>>;

export const deliveryOperations = {
  "delivery.list": defineOperation({
    access: "read",
    input: PAGE_FIELDS,
    prepare: (tools, project, input) => readComing(tools, project ?? "", input),
    run: async (tx, project, input, _, coming) => {
      const sources = await sourcesFor(tx, project, input);
      const page = toPage(tx, input);
      if (input.by === "day") {
        const days = await listDays(tx, project, { sources, coming }, page);
        return { ...days, rows: days.rows as object[] as ReturnType<typeof toDeliveryInfo>[] };
      }
      const rows = await listMerged(sources, { ...page, limit: page.limit + 1 });
      const last = rows.length > page.limit ? rows[page.limit - 1] : undefined;
      return {
        rows: rows.slice(0, page.limit).map((row) => toDeliveryInfo(row.id, row)),
        next: last === undefined ? null : `${last.at}:${last.id}`,
      };
    },
  }),
  "delivery.show": defineOperation({
    access: "read",
    /** Exactly one of the two is required. */
    input: { email: orNull(v.string()), phone_number: orNull(v.string()) },
    run: (tx, project, given) => toHistoryInfo(tx, project, oneAddress(given)),
  }),
  "delivery.status": defineOperation({
    scope: "server",
    access: "read",
    run: async (tx) => {
      const { states, oldestDueAt } = await summarizeQueue(tx);
      const senders = await livingSenders(tx);
      const projects = await tx.projects.list();
      return {
        ...states,
        oldest_due_at: oldestDueAt,
        paused_at: await tx.senders.pausedAt(),
        paused_projects: projects.flatMap(({ name, pausedAt }) => (pausedAt === null ? [] : [name])),
        projects: await readBudgets(tx, projects),
        senders: senders.map(toSenderInfo),
      };
    },
  }),
  "delivery.resolve": defineOperation({
    access: "write",
    input: { id: v.string(), outcome: v.picklist(["sent", "resend"]) },
    run: async (tx, project, { id, outcome }) => {
      const key = parseId(id);
      if (key === null) throw new NotFoundError(`project ${project.name} has no survey ${id}`);
      const row = await resolveDelivery(tx, project, key, outcome);
      return toDeliveryInfo(row.requestId, row);
    },
  }),
  "delivery.resume": defineOperation({
    scope: "server",
    access: "write",
    // Stored in the database, so that other processes resume too, including servers that start later.
    run: (tx) => tx.senders.setState("senders resumed", tx.nowMs),
    after: async ({ store, senders }) => {
      const held = await releaseAll(store, (tx, limit) => tx.deliveries.releaseHeld(limit, { isOperator: true }));
      const putOff = await releaseAll(store, (tx, limit) => tx.deliveries.releasePutOff(limit, null));
      for (const sender of senders) sender.resume?.();
      return { released: held + putOff };
    },
  }),
  /** Only composes the message; the command sends it from its own machine. */
  "delivery.test": defineOperation({
    access: "read",
    input: { to: v.string() },
    run: async (_, { id, name }) => ({ id, name }),
    after: ({ composeTest }, project, { to }) => composeTest(project, to),
  }),
  pause: defineOperation({
    scope: "any",
    access: "write",
    run: async (tx, project) => {
      await pauseSending(tx, project);
      return toPauseInfo(tx, project, tx.now);
    },
  }),
  resume: defineOperation({
    scope: "any",
    access: "write",
    run: async (tx, project) => {
      await resumeSending(tx, project);
      return toPauseInfo(tx, project, null);
    },
  }),
};

/** Lists what else is paused, because resuming one doesn't resume the others. */
async function toPauseInfo(tx: Transaction, project: ProjectRow | null, pausedAt: number | null) {
  const paused = project === null ? (await tx.projects.list()).filter((each) => each.pausedAt !== null) : [];
  return {
    project: project?.name ?? null,
    paused_at: pausedAt,
    all_paused_at: await tx.senders.pausedAt(),
    paused_projects: paused.map(({ name }) => name),
  };
}

async function sourcesFor(
  tx: Transaction,
  project: ProjectRow,
  { state, reason, ...given }: PageInput,
): Promise<readonly Source[]> {
  const address = eitherAddress(given);
  return openSources(tx, project, {
    state,
    reason,
    personId: address === null ? null : await findPerson(tx, project, address),
  });
}

async function findPerson(tx: Transaction, project: ProjectRow, address: string): Promise<number> {
  const isPhone = isE164(address);
  const person = isPhone ? await tx.people.byPhone(project.id, address) : await tx.people.byEmail(project.id, address);
  if (person === null) throw personNotFound(project, address);
  return person.id;
}

function personNotFound(project: ProjectRow, address: string): NotFoundError {
  const whose = isE164(address) ? "phone number" : "email";
  return new NotFoundError(`no person found with ${whose} ${address} in project ${project.name}`);
}

/** Upcoming surveys are counted only by day, and only without other filters. */
async function readComing(
  { store, clock }: Pick<OperationTools, "store" | "clock">,
  project: string,
  { by, state, reason, email, phone_number: phone, since, until }: PageInput,
): Promise<readonly ComingSurveys[]> {
  const now = unixSeconds(clock);
  const last = until?.(now) ?? now;
  if (by !== "day" || last <= now || [state, reason, email, phone].some((one) => one !== null)) return [];
  return reckonComing(store, project, { since: Math.max(since?.(now) ?? now, now), until: last });
}

async function listDays(
  tx: Transaction,
  project: ProjectRow,
  listed: { readonly sources: readonly Source[]; readonly coming: readonly ComingSurveys[] },
  page: DuePage,
) {
  const limit = Math.min(page.limit, DAYS_A_PAGE);
  const wallClock = await readWallClock(tx, project);
  const days = await countDays(listed, wallClock, { ...page, after: page.after?.at ?? null, limit: limit + 1 });
  const next = days.length > limit ? days[limit - 1] : undefined;
  return {
    rows: days.slice(0, limit).map((day) => toDayInfo(day, tx.now)),
    next: next === undefined ? null : String(next.beginsAt),
  };
}

function toPage({ now }: Transaction, { since, until, order, after, limit }: PageInput): DuePage {
  return { since: since?.(now) ?? null, until: until?.(now) ?? null, order, after, limit };
}

/** Until the day is over, `surveys` leaves out cancelled ones, because it predicts how many will be sent. */
function toDayInfo({ day, endsAt, counts, coming }: DayCounts, now: number) {
  const { not_scheduled: unscheduled, ...surveys } = counts;
  const all = Object.values(surveys).reduce((total, count) => total + count, coming);
  const sum = endsAt < now ? all : all - surveys.cancelled;
  return { period: day, surveys: sum, autopilot: coming, ...surveys, not_scheduled: unscheduled };
}

/** Describes a scheduled survey or an unscheduled request; each kind has its own ids. */
function toDeliveryInfo(id: number, row: Omit<ListedDelivery, "id" | "at">) {
  return {
    id: String(id),
    channel: row.channel,
    email: row.email,
    phone_number: row.phoneNumber,
    state: row.state,
    reason: row.reason,
    due_at: row.dueAt,
    sent_at: row.sentAt,
    attempts: row.attempts,
  };
}

async function toHistoryInfo(tx: Transaction, project: ProjectRow, address: string) {
  const { person, suppressions, stoppedAt, surveys, unscheduled, explanation } = await explainPerson(
    tx,
    project,
    address,
  );
  const isPhone = isE164(address);
  if (person === null && suppressions.length === 0 && stoppedAt === null) throw personNotFound(project, address);
  const since = (reason: string): number | null => suppressions.find((one) => one.reason === reason)?.at ?? null;
  return {
    id: person === null ? null : String(person.id),
    email: person?.email ?? (isPhone ? null : address),
    phone_number: person?.phoneNumber ?? (isPhone ? address : null),
    explanation,
    unsubscribed_at: person?.unsubscribedAt ?? since("unsubscribe"),
    bounced_at: person?.bouncedAt ?? since("bounce"),
    sms_unsubscribed_at: stoppedAt,
    last_sent_at: person?.lastSentAt ?? null,
    next_survey_scheduled_at: person?.nextSurveyAt ?? null,
    surveys: surveys.map((survey) => ({
      ...toDeliveryInfo(survey.requestId, survey),
      message_id: survey.messageId,
      page: toPageInfo(survey.pageFacts),
      log: survey.log.map(toAttemptInfo),
    })),
    not_scheduled: unscheduled.map(({ channel, at, status: { status, since: from, until } }) => ({
      at,
      channel,
      reason: status,
      since: from,
      until,
    })),
  };
}

function toAttemptInfo({ n, at, message, outcome, stage, code, enhancedCode, text, host, serverId, ms }: AttemptRow) {
  return {
    n,
    at,
    message,
    outcome,
    stage,
    code,
    enhanced_code: enhancedCode,
    text,
    remote_host: host,
    server_id: serverId,
    ms,
  };
}

function toPageInfo({ firstGetAt, gets, scores, headSeen, answeredBy, answeredAfter }: PageFacts) {
  if (gets === 0 && !headSeen && answeredBy === null) return null;
  return {
    first_get_at: firstGetAt,
    gets,
    scores,
    head_seen: headSeen,
    answered_by: answeredBy,
    answered_after: answeredAfter,
  };
}

async function readBudgets(tx: Transaction, projects: readonly ProjectRow[]) {
  const budgets = [];
  for (const project of projects) {
    const { limit, sent } = await readBudget(tx, project);
    const { count, until } = await readWaiting(tx, project);
    budgets.push({
      project: project.name,
      daily_limit: limit,
      sent_today: sent,
      /** Number of overdue surveys and reminders, and when the next one can be sent. */
      waiting: count,
      waiting_until: until,
    });
  }
  return budgets;
}

function toSenderInfo({ name, process, state: kept }: KeptSender) {
  const { state, said, reason, since, nextProbeAt } = kept;
  const { stage = null, code = null, enhancedCode = null } = said ?? {};
  return { name, process, state, stage, code, enhanced_code: enhancedCode, reason, since, next_probe_at: nextProbeAt };
}
