import type { JsonObject } from "../../../contract/json.ts";
import { Alarm, type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { createSemaphore, type Semaphore } from "../../../runtime/parallel.ts";
import type { Random } from "../../../runtime/random.ts";
import { retryOrGiveUp } from "../../domain/delivery/retries.ts";
import { wordsOfAttempt } from "../../domain/delivery/oversight.ts";
import {
  type Carrier,
  type CarrierReply,
  type CarrierResult,
  type Meaning,
  SENDER_STAGES,
  type SendRate,
} from "../../delivery/carrier.ts";
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
import { SendRateLimiter } from "./send-rate-limiter.ts";

export type AnsweredResult<Reply extends CarrierReply> = Exclude<
  CarrierResult<Reply>,
  { readonly kind: "withdrawn" | "unsendable" }
>;

export interface Composed<Message> {
  readonly message: Message;
  /** With these values, composing the message again gives the same bytes. */
  readonly frozen: FrozenMessage;
  /** The recipient's domain, which can back off separately; empty if it can't. */
  readonly domain: string;
  readonly mask: (text: string) => string;
  /** Removes the recipient, who may be erased later. */
  readonly redact: (text: string) => string;
}

export type DuePaced = Exclude<DueMessage, DueReply>;

export interface PacedTransportOptions<Message, Reply extends CarrierReply> {
  readonly name: string;
  readonly transport: Carrier<Message, Reply>;
  readonly connections: number;
  readonly rate: SendRate;
  readonly store: Store;
  readonly process: string;
  readonly clock: Clock;
  readonly random: Pick<Random, "fraction">;
  readonly interpret: (result: AnsweredResult<Reply>) => Meaning;
  readonly wake: () => void;
  /** Called when the mode changes. `isHealed` is true if the sender was stopped, so held messages can now be sent. */
  readonly onChange: (health: SenderHealth, isHealed: boolean) => void;
  readonly onError: (error: unknown) => void;
}

export interface PacedSender extends MessageSender {
  readonly resume: () => void;
  readonly health: () => SenderHealth;
  readonly close: () => Promise<void>;
}

const IN_FLIGHT_MAX = 64;
const SAVE_MS = 10_000;
const AFTER_PROBE_SECONDS = 15;
const PUT_OFF_SECONDS_MAX = 86_400;

export class PacedTransport<Message, Reply extends CarrierReply> {
  readonly #options: PacedTransportOptions<Message, Reply>;
  readonly #alarm: Alarm;
  readonly #rateLimiter: SendRateLimiter;
  readonly #turns: Semaphore;
  #health: SenderHealth;
  #saving: Promise<void> | null = null;
  #savedMs = 0;
  /** When an operator last made all senders retry, in Unix milliseconds. */
  #resumedAt: number | null;
  #isClosed = false;

  private constructor(
    options: PacedTransportOptions<Message, Reply>,
    kept: KeptSender | null,
    resumedAt: number | null,
  ) {
    this.#options = options;
    this.#resumedAt = resumedAt;
    this.#alarm = new Alarm(options.clock);
    this.#turns = createSemaphore(options.connections);
    this.#rateLimiter = new SendRateLimiter({ ...options, wanted: this.#turns.wanted });
    this.#health = kept === null ? HEALTHY_SENDER : restoreHealth(kept, resumedAt, options.clock.now());
    if (this.#health.mode !== "open") this.#wakeWhenDue();
  }

  /** Resumes the state saved by this process or, without one, the newest saved state. */
  static async open<Message, Reply extends CarrierReply>(
    options: PacedTransportOptions<Message, Reply>,
  ): Promise<PacedTransport<Message, Reply>> {
    const { store, name } = options;
    const { senders, resumedAt } = await store.read(async (tx) => ({
      senders: await tx.senders.list(),
      resumedAt: await tx.senders.state("senders resumed"),
    }));
    const transport = new PacedTransport(options, senders.find((one) => one.name === name) ?? null, resumedAt);
    // Saves immediately, so that operators can see this process.
    await transport.#save();
    return transport;
  }

  toSender({ channels, deliver }: Pick<MessageSender, "channels" | "deliver">): PacedSender {
    return {
      name: this.#options.name,
      channels,
      asksFirst: true,
      capacity: (seconds) => this.#capacity(seconds),
      resume: () => void this.#apply({ kind: "resume" }),
      health: () => this.#health,
      close: () => this.#close(),
      deliver,
    };
  }

  #capacity(seconds: number): number {
    const { rate, clock } = this.#options;
    if (this.#health.mode === "open")
      return Math.max(1, Math.min(IN_FLIGHT_MAX, Math.floor((rate.count / rate.perSeconds) * seconds)));
    return (nextTryAt(this.#health) ?? Infinity) <= clock.now() ? 1 : 0;
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

  #apply(event: SenderEvent): HealthStep["verdict"] {
    const { state, verdict } = nextSenderHealth(this.#health, event, this.#options.clock.now());
    this.#become(state);
    return verdict;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#alarm.clear();
    await this.#options.transport.close();
    await this.#saving;
    await this.#save();
  }

  /** Saves again if the state has changed during the write. */
  async #save(): Promise<void> {
    const { clock, store, name, process, onError } = this.#options;
    this.#savedMs = clock.monotonic();
    const saved = this.#health;
    const state = toStored(saved);
    try {
      await store.write((tx) => tx.senders.set({ name, process, savedAt: tx.nowMs, state }), { project: "none" });
    } catch (error) {
      onError(error);
      return;
    }
    if (saved.epoch !== this.#health.epoch) await this.#save();
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
    // Waits for the next slot but doesn't take it yet, so that the message doesn't occupy a connection in the meantime.
    await this.#sleepUntil(await this.#rateLimiter.next(), signal);
    const { state, admission } = admit(this.#health, composed.domain, clock.now());
    this.#become(state);
    // If the whole sender waits, it claims nothing, so the message can stay due. If only the domain waits, the delay
    // keeps the message from being claimed again immediately.
    if (admission.kind === "wait") {
      const { domainUntil } = admission;
      return { kind: "released", delaySeconds: domainUntil === null ? 0 : this.#secondsUntil(domainUntil) };
    }
    const { epoch } = admission;
    const token = { isTaken: false };
    try {
      const result = await transport.send(composed.message, {
        mayStillSend: async () => {
          if (!token.isTaken) await this.#sleepUntil(await this.#rateLimiter.take(), signal);
          token.isTaken = true;
          return progress.mayStillSend();
        },
        transmitting: () => progress.transmitting(composed.frozen),
      });
      return this.#settle(due, composed, result, epoch);
    } catch (error) {
      this.#apply({ kind: "released", epoch });
      throw error;
    }
  }

  #settle(due: DuePaced, composed: Composed<Message>, result: CarrierResult<Reply>, epoch: number): DeliveryResult {
    // A connection that we closed says nothing about the server.
    const isCut = this.#isClosed && result.kind === "broken";
    if (result.kind === "withdrawn" || result.kind === "unsendable" || isCut) {
      this.#apply({ kind: "released", epoch });
      return endWithoutAnswer(result);
    }
    const { interpret, clock } = this.#options;
    const { reply } = result;
    const answer = toAnswer(due, composed, reply, interpret(result));
    const verdict = this.#apply({ kind: "answer", answer, epoch });
    if (clock.monotonic() - this.#savedMs > SAVE_MS) this.#saveSoon();
    return { ...this.#outcome(due, reply, answer, verdict), attempt: toAttempt(reply) };
  }

  #outcome(due: DuePaced, reply: CarrierReply, answer: ServerAnswer, verdict: HealthStep["verdict"]): DeliveryOutcome {
    const { clock, random } = this.#options;
    const { outcome, message, domain, afterSeconds } = answer;
    if (verdict === "held") return { kind: "held", reason: reply.text };
    if (verdict === "later") return this.#putOff(reply, clock.now() + PROBE_INTERVAL);
    if (answer.hasStopped === true) return { kind: "cancelled", reason: "the number has opted out", hasStopped: true };
    const isSendersFault = verdict !== "odd" && answer.sender !== "none" && outcome !== "unknown";
    // This doesn't count as an attempt; the message is retried once the sender recovers. If the server rejected it
    // before RCPT TO, it can be the next probe itself; otherwise another message is the probe.
    if (isSendersFault && (outcome === "retry" || SENDER_STAGES.has(reply.stage)))
      return message === null
        ? { kind: "released", delaySeconds: 0 }
        : this.#putOff(reply, nextTryAt(this.#health) ?? 0);
    if (outcome === "failed" || outcome === "held") return { kind: outcome, reason: reply.text };
    if (outcome !== "retry") return { kind: outcome };
    const slow = this.#health.domains[domain];
    const leastSeconds = Math.max(afterSeconds ?? 0, slow === undefined ? 0 : this.#secondsUntil(slow.until));
    return retryOrGiveUp(due, { now: unixSeconds(clock), fraction: random.fraction(), leastSeconds });
  }

  #become(next: SenderHealth): void {
    const before = this.#health;
    this.#health = next;
    if (next.mode === before.mode && needsAnswer(next) === needsAnswer(before)) return;
    this.#options.onChange(next, hasStopped(before) && next.mode === "open");
    this.#saveSoon();
    this.#wakeWhenDue();
  }

  #wakeWhenDue(): void {
    if (this.#isClosed) return;
    const { clock, wake, store } = this.#options;
    if (this.#health.mode === "open") return wake();
    const pollMs = store.pollSeconds * 1000;
    const leftMs = (nextTryAt(this.#health) ?? 0) - clock.now();
    this.#alarm.set(leftMs > 0 ? Math.min(leftMs, pollMs) : pollMs, () => void this.#lookAgain());
  }

  /** Checks whether another process has resumed the sender. */
  async #lookAgain(): Promise<void> {
    const { store, wake, onError } = this.#options;
    const resumedAt = await store
      .read((tx) => tx.senders.state("senders resumed"))
      .catch((error: unknown) => {
        onError(error);
        return this.#resumedAt;
      });
    if (this.#isClosed) return;
    const isResumed = resumedAt !== this.#resumedAt;
    this.#resumedAt = resumedAt;
    if (isResumed) this.#apply({ kind: "resume" });
    wake();
    if (this.#health.mode !== "open") this.#wakeWhenDue();
  }

  async #sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const ms = at - this.#options.clock.now();
    if (ms > 0) await this.#options.clock.sleep(ms, signal);
  }

  /** Postpones the message until after the next probe, or until an operator resumes sending. */
  #putOff(reply: CarrierReply, probeAt: number): DeliveryOutcome {
    const delaySeconds = AFTER_PROBE_SECONDS + this.#secondsUntil(probeAt);
    // Omits the reply's text, which is in the log.
    const reason = `the sender waits after ${wordsOfAttempt({ ...reply, text: null }) ?? reply.stage}`;
    return { kind: "released", delaySeconds: Math.min(delaySeconds, PUT_OFF_SECONDS_MAX), reason };
  }

  #secondsUntil(at: number): number {
    return Math.max(1, Math.ceil((at - this.#options.clock.now()) / 1000));
  }

  #saveSoon(): void {
    this.#saving ??= this.#save().finally(() => {
      this.#saving = null;
    });
  }
}

/** When the next message can be tried; null means waiting for an operator. */
function nextTryAt(health: SenderHealth): number | null {
  return health.mode === "open" || health.mode === "probing" ? 0 : health.until;
}

function toStored(health: SenderHealth): SenderState {
  const states = { open: "ready", waiting: "waiting", probing: "waiting", stopped: "held" } as const;
  const { reason = null, said = null, since = null } = health.mode === "open" ? {} : health.trouble;
  const until = nextTryAt(health) ?? 0;
  return {
    state: states[health.mode],
    reason,
    said,
    since: since === null ? null : Math.floor(since / 1000),
    nextProbeAt: until === 0 ? null : Math.ceil(until / 1000),
    memory: health as unknown as JsonObject,
  };
}

/** Ignores states of older versions, and a stored state from before an operator resumed the sender. */
function restoreHealth({ state, savedAt }: KeptSender, resumedAt: number | null, now: number): SenderHealth {
  const memory = state.memory as unknown as SenderHealth | undefined;
  const kept = memory?.patience === undefined ? HEALTHY_SENDER : restoreSenderHealth(memory);
  return resumedAt !== null && resumedAt >= savedAt ? nextSenderHealth(kept, { kind: "resume" }, now).state : kept;
}

function toAttempt({ stage, code, enhancedCode, text, host, serverId, ms }: CarrierReply): AttemptFacts {
  return { stage, code, enhancedCode, text, host, serverId, ms };
}

function endWithoutAnswer(result: CarrierResult<CarrierReply>): DeliveryResult {
  // The message is already settled.
  if (result.kind === "withdrawn") return { kind: "cancelled", reason: "withdrawn" };
  const attempt = toAttempt(result.reply);
  if (result.kind === "unsendable") return { kind: "failed", reason: result.reply.text, attempt };
  return result.kind === "broken" && result.isPastDot
    ? { kind: "unknown", attempt }
    : { kind: "released", delaySeconds: 0 };
}

function toAnswer(
  { project, requestId }: DuePaced,
  { domain, mask, redact }: Composed<unknown>,
  { stage, code, enhancedCode, text }: CarrierReply,
  meaning: Meaning,
): ServerAnswer {
  return {
    ...meaning,
    message: (meaning.isBeforeRecipient ?? SENDER_STAGES.has(stage)) ? null : `${project.id}/${requestId}`,
    domain,
    text: redact(text),
    maskedText: mask(text),
    said: { stage, code, enhancedCode },
  };
}
