/** Shows the effect of a project's settings by running the real scheduler on a copy, with a simulated clock. */
import type { Random } from "../../runtime/random.ts";
import { DEFAULT_ZONE } from "../../runtime/zone.ts";
import { requireProject } from "../domain/projects/projects.ts";
import { releaseDeadClaims } from "../domain/delivery/deliveries.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { DueQuestion, OutgoingChannel, ProjectRow, Store } from "../domain/ports.ts";
import { readSettings } from "../domain/projects/settings.ts";
import type { DataFileOptions } from "../data-file/open-data-file.ts";
import { Scheduler, type SchedulerOptions } from "../sending/scheduler.ts";
import { IN_MEMORY } from "../store/sqlite/engine/engine.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import { copyData } from "./copy-data.ts";
import type { Held, Rehearsal, RehearsedMessage } from "./results.ts";
import { findSilentMembers, findWaits } from "./held-back.ts";
import { Answers, JumpClock } from "./simulated.ts";

export interface RehearsalOptions extends Omit<DataFileOptions, "onEvent"> {
  readonly project: string;
  readonly until: number;
  /** Share of surveys that get an answer, from 0 to 1; `chance` picks which ones. */
  readonly answerRate: number;
  readonly chance: Pick<Random, "fraction">;
  readonly onMoment: (at: number) => Promise<void>;
  readonly signal: AbortSignal;
}

const CHANNELS: readonly OutgoingChannel[] = ["email", "sms", "reminder", "sms-reminder"];
const AT_ONCE = 500;

/** Doesn't change the data. Throws StoreFileError, and NotFoundError for an unknown project. */
export async function rehearse(options: RehearsalOptions): Promise<Rehearsal> {
  const clock = new JumpClock(Math.floor(options.clock.now() / 1000));
  const store = await openSqliteStore({ file: IN_MEMORY, clock, random: options.random });
  try {
    await copyInto(store, options);
    const project = await store.read((tx) => requireProject(tx, options.project));
    return await run(store, project, clock, options);
  } finally {
    await store.close();
  }
}

async function copyInto(store: Store, options: RehearsalOptions): Promise<void> {
  await copyData(options, store, options.signal);
  // Lifts the pauses that would hold this project's surveys, because the rehearsal shows what happens without them.
  await store.write(
    async (tx) => {
      await tx.senders.setPaused(null);
      // The copy may contain claims of a running server.
      await releaseDeadClaims(tx);
      for (const { id, name } of await tx.projects.list())
        await tx.projects.setPaused(id, name === options.project ? null : tx.now);
    },
    { project: "all" },
  );
}

async function run(
  store: Store,
  project: ProjectRow,
  clock: JumpClock,
  { until, answerRate, chance, onMoment, signal }: RehearsalOptions,
): Promise<Rehearsal> {
  const since = clock.seconds;
  const zone = (await store.read((tx) => readSettings(tx, project))).timeZone ?? DEFAULT_ZONE;
  const { held, withoutAddress } = await findSilentMembers(store, project, until);
  const answers = new Answers(store, answerRate, chance);
  const messages: RehearsedMessage[] = [];
  const sender = createRecorder(store, clock, { since, zone, messages, held, answers });
  const scheduler = openScheduler(store, clock, sender);
  for (;;) {
    const at = Math.min(await scheduler.finish(), answers.nextAt());
    if (at > until) break;
    signal.throwIfAborted();
    clock.seconds = Math.max(at, clock.seconds + 1);
    await answers.give(clock.seconds);
    await onMoment(clock.seconds);
  }
  return { since, until, zone, messages, held, withoutAddress };
}

/** Needs no heartbeat, because no other process uses the copy. */
const ALONE: SchedulerOptions["heartbeat"] = {
  beat: async () => undefined,
  isLeader: () => true,
  end: async () => undefined,
};

function openScheduler(store: Store, clock: JumpClock, sender: MessageSender): Scheduler {
  return new Scheduler({
    store,
    clock,
    claimer: "rehearsal",
    heartbeat: ALONE,
    senders: [sender],
    maxAgeSeconds: null,
    onUnknown: "hold",
    knowsOutbox: false,
    onOutcome: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
}

interface Recorded {
  readonly since: number;
  readonly zone: string;
  readonly messages: RehearsedMessage[];
  readonly held: Held[];
  readonly answers: Answers;
}

function createRecorder(store: Store, clock: JumpClock, recorded: Recorded): MessageSender {
  const { since, zone, messages, held, answers } = recorded;
  return {
    name: "rehearsal",
    channels: CHANNELS,
    capacity: () => AT_ONCE,
    asksFirst: true,
    deliver: async (due, { mayStillSend }) => {
      if (due.channel === "digest" || due.channel === "reply") throw new TypeError("not a survey");
      const message = toMessage(due, clock.seconds);
      if ((message.channel === "email" ? message.email : message.phone_number) === null)
        return { kind: "failed", reason: "the person has no address" };
      if (!(await mayStillSend())) return { kind: "cancelled", reason: "withdrawn" };
      messages.push(message);
      const waits = await store.read((tx) => findWaits(tx, due, zone));
      held.push(...waits.filter(({ at }) => at >= since));
      if (message.kind === "survey") {
        answers.plan(due, clock.seconds);
        if (message.platform === null) await noteThrottled(store, due, clock.seconds, held);
      }
      return { kind: "sent" };
    },
  };
}

/** Records which Autopilot surveys this one delays, because of the minimum time between two surveys of a person. */
async function noteThrottled(store: Store, due: DueQuestion, now: number, held: Held[]): Promise<void> {
  const { project, person } = due;
  await store.read(async (tx) => {
    const throttle = (await tx.projects.byId(project.id))?.throttleSeconds ?? 0;
    for (const { nextSurveyAt: at } of await tx.autopilot.memberships(project.id, person.id))
      if (at !== null && at < now + throttle) held.push({ at: Math.max(at, now), why: "throttled" });
  });
}

function toMessage(due: DueQuestion, now: number): RehearsedMessage {
  const isReminder = "survey" in due;
  const { channel, autopilot } = isReminder ? due.survey : due;
  return {
    person_id: String(due.person.id),
    email: due.person.email,
    phone_number: due.person.phoneNumber,
    kind: isReminder ? "reminder" : "survey",
    channel,
    platform: autopilot ? channel : null,
    sent_at: now,
  };
}
