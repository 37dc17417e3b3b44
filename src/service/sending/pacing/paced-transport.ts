/** A sender as the scheduler uses it: a connection's turn, the rate, the sender's health, and the effect of a reply. */
import type { JsonObject } from "../../../contract/json.ts";
import { unixSeconds, type Clock } from "../../../runtime/clock.ts";
import { createSemaphore, type Semaphore } from "../../../runtime/parallel.ts";
import type { Random } from "../../../runtime/random.ts";
import { retryOrGiveUp } from "../../domain/delivery/retries.ts";
import { wordsOfAttempt } from "../../domain/delivery/oversight.ts";
import type { Carrier, CarrierReply, CarrierResult, Meaning, SendRate } from "../../delivery/carrier.ts";
import type {
  AttemptFacts,
  DeliveryOutcome,
  DeliveryProgress,
  DeliveryResult,
  MessageSender,
} from "../../domain/delivery/sender.ts";
import type { DueMessage, DueReply, FrozenMessage, KeptSender, SenderState, Store } from "../../domain/ports.ts";
import {
  admit,
  hasStopped,
  HEALTHY_SENDER,
  needsAnswer,
  nextSenderHealth,
  PROBE_INTERVAL,
  restoreSenderHealth,
  type HealthStep,
  type SenderEvent,
  type SenderHealth,
  type ServerAnswer,
} from "./sender-health.ts";
import { createDepartures, type Departures } from "./departures.ts";
import type { SenderMemory } from "./sender-memory.ts";
import { createAlarm, type Alarm } from "../../delivery/smtp/alarm.ts";

export type AnsweredResult<Reply extends CarrierReply> = Exclude<
  CarrierResult<Reply>,
  { readonly kind: "withdrawn" | "unsendable" }
>;

/** Ready for its carrier. */
export interface Composed<Message> {
  readonly message: Message;
  /** From this it is composed again, the same each time. */
  readonly frozen: FrozenMessage;
  /** A part of the recipient's address that may be put off on its own. */
  readonly domain: string;
  /** The words without what differs from one recipient to the next. */
  readonly mask: (text: string) => string;
  /** The words without the recipient: what is known of the sender outlives them. */
  readonly redact: (text: string) => string;
}

/** What is sent at a rate; replies aren't. */
export type DuePaced = Exclude<DueMessage, DueReply>;

export interface PacedTransportOptions<Message, Reply extends CarrierReply> {
  /** By which its state is kept. */
  readonly name: string;
  readonly transport: Carrier<Message, Reply>;
  /** As many as the transport has. */
  readonly connections: number;
  readonly rate: SendRate;
  /** All processes that send from it keep the rate together. */
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Pick<Random, "fraction">;
  readonly meaningOf: (result: AnsweredResult<Reply>) => Meaning;
  readonly memory: SenderMemory;
  /** There may be room for messages again. */
  readonly wake: () => void;
  /** Called whenever the mode of the sender changes; `isHealed` if it was stopped and held messages may go. */
  readonly onChange: (health: SenderHealth, isHealed: boolean) => void;
  readonly onError: (error: unknown) => void;
}

export interface PacedSender extends MessageSender {
  readonly resume: () => void;
  readonly health: () => SenderHealth;
  /** Lets messages in flight end, within bounds. */
  readonly close: () => Promise<void>;
}

/** The most messages in progress; more would only wait for the same connections. */
const IN_FLIGHT_MAX = 64;
const SAVE_MS = 10_000;
const AFTER_PROBE_SECONDS = 15;
const PUT_OFF_SECONDS_MAX = 86_400;
/** Stages in which the recipient was not named yet. */
const BEFORE_RECIPIENT: ReadonlySet<string> = new Set(["connect", "ehlo", "starttls", "auth", "mail-from"]);

/** Sends messages of whatever kind at a rate, while the other side takes them. */
export class PacedTransport<Message, Reply extends CarrierReply> {
  health: SenderHealth;
  readonly #options: PacedTransportOptions<Message, Reply>;
  readonly #alarm: Alarm;
  readonly #departures: Departures;
  readonly #turns: Semaphore;
  #saving: Promise<void> | null = null;
  #savedMs = 0;
  #resumedAt: number | null;
  #isClosed = false;

  constructor(options: PacedTransportOptions<Message, Reply>, kept: KeptSender | null, resumedAt: number | null) {
    this.#options = options;
    this.#resumedAt = resumedAt;
    this.#alarm = createAlarm(options.clock);
    this.#turns = createSemaphore(options.connections);
    const { rate, clock, name, store } = options;
    this.#departures = createDepartures({ rate, clock, store, name, wanted: this.#turns.wanted });
    this.health = kept === null ? HEALTHY_SENDER : toHealth(kept, resumedAt, options.clock.now());
    if (this.health.mode !== "open") this.#wakeWhenDue();
  }

  /** Goes on where the last process ended: a sender that was stopped is still stopped. */
  static async open<Message, Reply extends CarrierReply>(
    options: PacedTransportOptions<Message, Reply>,
  ): Promise<PacedTransport<Message, Reply>> {
    const transport = new PacedTransport(options, await options.memory.load(), await options.memory.resumedAt());
    // An operator sees each process from its start on.
    await transport.save();
    return transport;
  }

  /** `deliver` makes messages of these channels and has them sent. */
  toSender({ channels, deliver }: Pick<MessageSender, "channels" | "deliver">): PacedSender {
    return {
      name: this.#options.name,
      channels,
      asksFirst: true,
      capacity: (seconds) => this.capacity(seconds),
      resume: () => void this.tell({ kind: "resume" }),
      health: () => this.health,
      close: () => this.close(),
      deliver,
    };
  }

  capacity(seconds: number): number {
    const { rate, clock } = this.#options;
    if (this.health.mode === "open")
      return Math.max(1, Math.min(IN_FLIGHT_MAX, Math.floor((rate.count / rate.perSeconds) * seconds)));
    return (untilOf(this.health) ?? Infinity) <= clock.now() ? 1 : 0;
  }

  async send(
    due: DuePaced,
    compose: () => Promise<Composed<Message>>,
    progress: DeliveryProgress,
  ): Promise<DeliveryResult> {
    await this.#turns.enter();
    try {
      return await this.#sendInTurn(due, compose, progress);
    } finally {
      this.#turns.leave();
    }
  }

  tell(event: SenderEvent): Omit<HealthStep, "state"> {
    const { state, ...step } = nextSenderHealth(this.health, event, this.#options.clock.now());
    this.#become(state);
    return step;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#alarm.clear();
    await this.#options.transport.close();
    await this.#saving;
    await this.save();
  }

  /** Saves again where the state changed meanwhile. */
  async save(): Promise<void> {
    const { clock, memory, onError } = this.#options;
    this.#savedMs = clock.monotonic();
    const saved = this.health;
    try {
      await memory.save(toStored(saved));
    } catch (error) {
      onError(error);
      return;
    }
    if (saved.epoch !== this.health.epoch) await this.save();
  }

  async #sendInTurn(
    due: DuePaced,
    compose: () => Promise<Composed<Message>>,
    progress: DeliveryProgress,
  ): Promise<DeliveryResult> {
    const { clock, transport } = this.#options;
    const { signal } = progress;
    signal.throwIfAborted();
    const composed = await compose();
    // The token itself is taken later. Waiting for it here holds no connection.
    await this.#sleepUntil(await this.#departures.next(), signal);
    const { state, admission } = admit(this.health, composed.domain, clock.now());
    this.#become(state);
    // A waiting sender has no room, so its messages may stay due. Those of a waiting domain would come back at once.
    if (admission.kind === "wait")
      return { kind: "released", delaySeconds: admission.scope === "domain" ? this.#secondsUntil(admission.until) : 0 };
    const { epoch } = admission;
    const token = { isTaken: false };
    try {
      const result = await transport.send(composed.message, {
        mayStillSend: async () => {
          if (!token.isTaken) await this.#sleepUntil(await this.#departures.take(), signal);
          token.isTaken = true;
          return progress.mayStillSend();
        },
        transmitting: () => progress.transmitting(composed.frozen),
      });
      return this.#settle(due, composed, result, epoch);
    } catch (error) {
      this.tell({ kind: "released", epoch });
      throw error;
    }
  }

  /** What the sender learns from the end of a transmission, and what it means for the message. */
  #settle(due: DuePaced, composed: Composed<Message>, result: CarrierResult<Reply>, epoch: number): DeliveryResult {
    const { meaningOf, clock } = this.#options;
    // A connection that the end of the service has cut says nothing of the server.
    const isCut = this.#isClosed && result.kind === "broken";
    if (result.kind === "withdrawn" || result.kind === "unsendable" || isCut) {
      this.tell({ kind: "released", epoch });
      return endWithoutAnswer(result);
    }
    const { reply } = result;
    const { isBeforeRecipient, hasStopped: isOptedOut, ...meaning } = meaningOf(result);
    const message = (isBeforeRecipient ?? BEFORE_RECIPIENT.has(reply.stage)) ? null : keyOf(due);
    const answer = { ...meaning, ...wordsOf(reply, composed), message, domain: composed.domain };
    const { verdict } = this.tell({ kind: "answer", answer, epoch });
    if (clock.monotonic() - this.#savedMs > SAVE_MS) this.#saveSoon();
    const attempt = factsOf(reply);
    if (verdict === "held") return { kind: "held", reason: reply.text, attempt };
    if (verdict === "later") return { ...this.#putOff(reply, clock.now() + PROBE_INTERVAL), attempt };
    if (isOptedOut === true)
      return { kind: "cancelled", reason: "the number has opted out", hasStopped: true, attempt };
    return { ...this.#outcomeOf(due, verdict === "odd" ? { ...answer, sender: "none" } : answer, reply), attempt };
  }

  #outcomeOf(due: DuePaced, answer: ServerAnswer, reply: CarrierReply): DeliveryOutcome {
    const { outcome, sender, afterSeconds } = answer;
    const { stage, text } = reply;
    // The sender's trouble: the message keeps its attempts, and goes out as soon as the sender is well. One whose
    // recipient was named lets another be the probe.
    if (sender !== "none" && outcome !== "unknown" && (outcome === "retry" || BEFORE_RECIPIENT.has(stage)))
      return answer.message === null
        ? { kind: "released", delaySeconds: 0 }
        : this.#putOff(reply, untilOf(this.health) ?? 0);
    if (outcome === "failed" || outcome === "held") return { kind: outcome, reason: text };
    if (outcome !== "retry") return { kind: outcome };
    const { clock, random } = this.#options;
    const slow = this.health.domains[answer.domain];
    const leastSeconds = Math.max(afterSeconds ?? 0, slow === undefined ? 0 : this.#secondsUntil(slow.until));
    return retryOrGiveUp(due, { now: unixSeconds(clock), fraction: random.fraction(), leastSeconds });
  }

  #become(next: SenderHealth): void {
    const before = this.health;
    this.health = next;
    if (next.mode === before.mode && needsAnswer(next) === needsAnswer(before)) return;
    this.#options.onChange(next, hasStopped(before) && next.mode === "open");
    this.#saveSoon();
    this.#wakeWhenDue();
  }

  #wakeWhenDue(): void {
    if (this.#isClosed) return;
    const { clock, wake, store } = this.#options;
    if (this.health.mode === "open") return wake();
    const pollMs = store.pollSeconds * 1000;
    const leftMs = (untilOf(this.health) ?? 0) - clock.now();
    this.#alarm.set(leftMs > 0 ? Math.min(leftMs, pollMs) : pollMs, () => void this.#lookAgain());
  }

  /** An operator's command may run in another process. */
  async #lookAgain(): Promise<void> {
    const { memory, wake, onError } = this.#options;
    const resumedAt = await memory.resumedAt().catch((error: unknown) => {
      onError(error);
      return this.#resumedAt;
    });
    if (this.#isClosed) return;
    const isResumed = resumedAt !== this.#resumedAt;
    this.#resumedAt = resumedAt;
    if (isResumed) this.tell({ kind: "resume" });
    wake();
    if (this.health.mode !== "open") this.#wakeWhenDue();
  }

  async #sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const ms = at - this.#options.clock.now();
    if (ms > 0) await this.#options.clock.sleep(ms, signal);
  }

  /** Behind the probe of that moment, or until the operator resumes. */
  #putOff(reply: CarrierReply, probeAt: number): DeliveryOutcome {
    const delaySeconds = AFTER_PROBE_SECONDS + this.#secondsUntil(probeAt);
    // The words are in the log; a reason is for a list.
    const reason = `the sender waits after ${wordsOfAttempt({ ...reply, text: null }) ?? reply.stage}`;
    return { kind: "released", delaySeconds: Math.min(delaySeconds, PUT_OFF_SECONDS_MAX), reason };
  }

  #secondsUntil(at: number): number {
    return Math.max(1, Math.ceil((at - this.#options.clock.now()) / 1000));
  }

  #saveSoon(): void {
    this.#saving ??= this.save().finally(() => {
      this.#saving = null;
    });
  }
}

/** When the next message may be tried; null when an operator must say so. */
function untilOf(health: SenderHealth): number | null {
  return health.mode === "open" || health.mode === "probing" ? 0 : health.until;
}

function toStored(health: SenderHealth): SenderState {
  const states = { open: "ready", waiting: "waiting", probing: "waiting", stopped: "held" } as const;
  const { reason = null, said = null, since = null } = health.mode === "open" ? {} : health.trouble;
  const until = untilOf(health) ?? 0;
  return {
    state: states[health.mode],
    reason,
    said,
    since: since === null ? null : Math.floor(since / 1000),
    nextProbeAt: until === 0 ? null : Math.ceil(until / 1000),
    memory: health as unknown as JsonObject,
  };
}

/** An operator may have resumed it while nothing ran. What an older version stored begins anew. */
function toHealth({ state, savedAt }: KeptSender, resumedAt: number | null, now: number): SenderHealth {
  const memory = state.memory as unknown as SenderHealth | undefined;
  const kept = memory?.patience === undefined ? HEALTHY_SENDER : restoreSenderHealth(memory);
  return resumedAt !== null && resumedAt >= savedAt ? nextSenderHealth(kept, { kind: "resume" }, now).state : kept;
}

function factsOf({ stage, code, enhancedCode, text, host, serverId, ms }: CarrierReply): AttemptFacts {
  return { stage, code, enhancedCode, text, host, serverId, ms };
}

/** Nothing was learnt of the other side. */
function endWithoutAnswer(result: CarrierResult<CarrierReply>): DeliveryResult {
  // A withdrawn message is settled already.
  if (result.kind === "withdrawn") return { kind: "cancelled", reason: "withdrawn" };
  const attempt = factsOf(result.reply);
  if (result.kind === "unsendable") return { kind: "failed", reason: result.reply.text, attempt };
  return result.kind === "broken" && result.isPastDot
    ? { kind: "unknown", attempt }
    : { kind: "released", delaySeconds: 0 };
}

/** Tells the message from others in what the sender remembers. */
function keyOf({ project, requestId }: DuePaced): string {
  return `${project.id}/${requestId}`;
}

function wordsOf(
  { stage, code, enhancedCode, text }: CarrierReply,
  { mask, redact }: Pick<Composed<unknown>, "mask" | "redact">,
) {
  return { text: redact(text), maskedText: mask(text), said: { stage, code, enhancedCode } };
}
