/** The commands about deliveries, on an open store. */
import { resolveDelivery } from "../../domain/delivery/deliveries.ts";
import { readBudget } from "../../domain/delivery/pacing.ts";
import type { ListedDelivery } from "../../domain/delivery/lists/sources.ts";
import { livingSenders } from "../../domain/delivery/living.ts";
import {
  explainPerson,
  pauseSending,
  readWaiting,
  releaseAll,
  releaseForOperator,
  releasePutOff,
  resumeSending,
  summarizeQueue,
} from "../../domain/delivery/oversight.ts";
import type { MessageSender } from "../../domain/delivery/sender.ts";
import { parseId } from "../../domain/ids.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import type {
  AttemptRow,
  KeptSender,
  PageFacts,
  ProjectRow,
  Store,
  Transaction,
  UnscheduledRow,
} from "../../domain/ports.ts";
import { AdminError, type AdminResults, type Handlers } from "../commands.ts";
import { requireProject, writeInProject } from "../in-project.ts";
import type {
  BudgetInfo,
  AttemptInfo,
  DeliveryCommand,
  DeliveryInfo,
  HistoryInfo,
  PageInfo,
  SenderInfo,
  UnscheduledInfo,
} from "./commands.ts";

export interface DeliveryAdminOptions {
  readonly store: Store;
  readonly senders: readonly MessageSender[];
}

export function createDeliveryHandlers({
  store,
  senders,
}: DeliveryAdminOptions): Pick<Handlers, Exclude<DeliveryCommand["kind"], "delivery.list" | "delivery.days">> {
  return {
    "delivery.show": ({ project, email }) =>
      store.read(async (tx) => toHistoryInfo(tx, await requireProject(tx, project), email)),
    "delivery.status": () => store.read(readStatus),
    "delivery.resolve": async ({ project, id, as }) => {
      const row = await writeInProject(store, project, (tx, found) => {
        const key = parseId(id);
        if (key === null) throw new AdminError(`project ${project} has no survey ${id}`);
        return resolveDelivery(tx, found, key, as);
      });
      return toDeliveryInfo(row.requestId, row);
    },
    "delivery.resume": async () => {
      const held = await releaseAll(store, releaseForOperator);
      const putOff = await releaseAll(store, releasePutOff);
      // For processes that are not this one, or not running.
      await store.write((tx) => tx.deliveries.setSendersResumed(tx.nowMs), { project: "none" });
      for (const sender of senders) sender.resume?.();
      return { released: held + putOff };
    },
    pause: async ({ project, paused }) => {
      const pause = async (tx: Transaction, found: ProjectRow | null): Promise<number | null> => {
        await (paused ? pauseSending : resumeSending)(tx, found);
        return paused ? tx.now : null;
      };
      const pausedAt =
        project === undefined
          ? await store.write((tx) => pause(tx, null))
          : await writeInProject(store, project, pause);
      return { project: project ?? null, paused_at: pausedAt };
    },
  };
}

/** A survey that was scheduled, or one that was not: `id` is its number among those of its kind. */
export function toDeliveryInfo(id: number, row: Omit<ListedDelivery, "id" | "at">): DeliveryInfo {
  const { channel, email, phoneNumber, state, reason, dueAt, sentAt, attempts } = row;
  return {
    id: String(id),
    channel,
    email,
    phone_number: phoneNumber,
    state,
    reason,
    due_at: dueAt,
    sent_at: sentAt,
    attempts,
  };
}

function toAttemptInfo({
  n,
  at,
  outcome,
  stage,
  code,
  enhancedCode,
  text,
  host,
  serverId,
  ms,
}: AttemptRow): AttemptInfo {
  return {
    n,
    at,
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

async function toHistoryInfo(tx: Transaction, project: ProjectRow, address: string): Promise<HistoryInfo> {
  const history = await explainPerson(tx, project, address);
  const { person, suppressions, stoppedAt, surveys, unscheduled, explanation } = history;
  const isPhone = isE164(address);
  if (person === null && suppressions.length === 0 && stoppedAt === null)
    throw new AdminError(
      `no person found with ${isPhone ? "phone number" : "email"} ${address} in project ${project.name}`,
    );
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
    not_scheduled: unscheduled.map(toUnscheduledInfo),
  };
}

function toUnscheduledInfo({ channel, at, status: { status, since, until } }: UnscheduledRow): UnscheduledInfo {
  return { at, channel, reason: status, since, until };
}

function toPageInfo(facts: PageFacts): PageInfo | null {
  const { firstGetAt, gets, scores, headSeen, answeredBy, answeredAfter } = facts;
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

async function readStatus(tx: Transaction): Promise<AdminResults["delivery.status"]> {
  const { states, oldestDueAt } = await summarizeQueue(tx);
  const senders = await livingSenders(tx);
  const projects = await tx.projects.list();
  return {
    ...states,
    oldest_due_at: oldestDueAt,
    paused_at: await tx.deliveries.pausedAt(),
    paused_projects: projects.flatMap(({ name, pausedAt }) => (pausedAt === null ? [] : [name])),
    projects: await readBudgets(tx, projects),
    senders: senders.map(toSenderInfo),
  };
}

async function readBudgets(tx: Transaction, projects: readonly ProjectRow[]): Promise<BudgetInfo[]> {
  const budgets: BudgetInfo[] = [];
  for (const project of projects) {
    const { limit, sent } = await readBudget(tx, project);
    const { count, until } = await readWaiting(tx, project);
    budgets.push({
      project: project.name,
      daily_limit: limit,
      sent_today: sent,
      waiting: count,
      waiting_until: until,
    });
  }
  return budgets;
}

function toSenderInfo({ name, process, state: kept }: KeptSender): SenderInfo {
  const { state, said, reason, since, nextProbeAt } = kept;
  const { stage = null, code = null, enhancedCode = null } = said ?? {};
  return { name, process, state, stage, code, enhanced_code: enhancedCode, reason, since, next_probe_at: nextProbeAt };
}
