import type { Clock } from "../../../runtime/clock.ts";
import { createSemaphore, type Semaphore } from "../../../runtime/parallel.ts";
import { SmtpSession, type SessionOutcome, type SmtpTimeouts } from "./smtp-session.ts";
import type { CarrierProgress } from "../carrier.ts";
import type { SmtpMessage, SmtpResult } from "./smtp-types.ts";
import type { SmtpServer } from "./smtp-url.ts";

export interface SmtpTransportOptions {
  readonly server: SmtpServer;
  /** PEM certificates to trust instead of the public ones, or null. */
  readonly certificates: string | null;
  readonly connections: number;
  readonly clock: Clock;
  readonly timeouts?: Partial<TransportTimeouts>;
}

interface TransportTimeouts extends SmtpTimeouts {
  /** How long `close` waits for messages past their dot. */
  readonly drainPastDot: number;
}

const TIMEOUTS: TransportTimeouts = {
  connect: 20_000,
  greeting: 30_000,
  command: 60_000,
  afterDot: 600_000,
  idle: 10_000,
  quit: 5_000,
  drainPastDot: 10_000,
};
const MESSAGES_PER_CONNECTION = 100;
const STOPPING = "the service is stopping";

type Attempt = SessionOutcome | { readonly kind: "withdrawn" };

/** Never sends anything twice or retries a rejection. */
export class SmtpTransport {
  readonly #options: SmtpTransportOptions;
  readonly #timeouts: TransportTimeouts;
  readonly #idle: SmtpSession[] = [];
  readonly #busy = new Set<SmtpSession>();
  readonly #turns: Semaphore;
  #closing: Promise<void> | null = null;
  /** Aborted once no message is in progress, which ends the wait in `#drain`. */
  #quiet = new AbortController();

  constructor(options: SmtpTransportOptions) {
    this.#options = options;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#turns = createSemaphore(options.connections);
  }

  /** Rejects after `close`, and if a callback in `progress` fails; the final dot is then not sent. */
  async send(message: SmtpMessage, progress: CarrierProgress): Promise<SmtpResult> {
    await this.#turns.enter();
    if (this.#closing !== null) {
      this.#release();
      throw new Error("the transport is closed");
    }
    const { clock } = this.#options;
    const began = clock.monotonic();
    const attempt = await this.#deliver(message, progress);
    if (attempt.kind === "withdrawn") return attempt;
    return { ...attempt, reply: { ...attempt.reply, ms: Math.round(clock.monotonic() - began) } };
  }

  /** Lets messages past their dot finish, up to a limit, and says QUIT. The rest resolve as `broken`. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #deliver(message: SmtpMessage, progress: CarrierProgress): Promise<Attempt> {
    for (;;) {
      const kept = this.#takeIdle();
      const session = kept ?? this.#create();
      const failure = kept === null ? await session.open() : null;
      // A server that closes a connection between two messages isn't rejecting the message.
      const isAlive = kept === null || (await kept.reset());
      const attempt = failure ?? (isAlive ? await this.#attempt(session, message, progress) : null);
      if (attempt !== null && (kept === null || !wasOver(attempt))) {
        this.#giveBack(session);
        return attempt;
      }
      this.#busy.delete(session);
      session.destroy("the connection was of no more use");
    }
  }

  async #attempt(session: SmtpSession, message: SmtpMessage, progress: CarrierProgress): Promise<Attempt> {
    try {
      const obstacle = session.findObstacle(message);
      if (obstacle !== null) return obstacle;
      session.hold();
      if (!(await progress.mayStillSend())) return { kind: "withdrawn" };
      return await session.transmit(message, () => progress.transmitting());
    } catch (error) {
      this.#giveBack(session);
      throw error;
    }
  }

  #create(): SmtpSession {
    const { server, certificates, clock } = this.#options;
    const session = new SmtpSession({ server, certificates, clock, timeouts: this.#timeouts });
    if (this.#closing !== null) session.destroy(STOPPING);
    this.#busy.add(session);
    return session;
  }

  #takeIdle(): SmtpSession | null {
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop()) {
      if (!session.isOpen) continue;
      this.#busy.add(session);
      return session;
    }
    return null;
  }

  /**
   * A closing connection keeps its slot until it has ended, so the server never sees more connections than configured.
   */
  #giveBack(session: SmtpSession): void {
    const isLast = this.#closing !== null || session.messages >= MESSAGES_PER_CONNECTION;
    if (session.isOpen && !isLast) {
      this.#busy.delete(session);
      this.#idle.push(session);
      session.rest();
      this.#release();
      return;
    }
    void this.#retire(session);
  }

  async #retire(session: SmtpSession): Promise<void> {
    await session.quit();
    this.#busy.delete(session);
    this.#release();
  }

  #release(): void {
    this.#turns.leave();
    if (this.#isQuiet()) this.#quiet.abort();
  }

  #isQuiet(): boolean {
    return this.#turns.wanted() === 0;
  }

  async #drain(): Promise<void> {
    // Wakes waiting messages, which then find that the transport is closed.
    this.#quiet = new AbortController();
    this.#turns.admitAll();
    await Promise.all(this.#idle.splice(0).map((session) => session.quit()));
    for (const session of this.#busy) if (!session.isPastDot) session.destroy(STOPPING);
    const { drainPastDot } = this.#timeouts;
    if (!this.#isQuiet()) await this.#options.clock.sleep(drainPastDot, this.#quiet.signal).catch(() => undefined);
    for (const session of this.#busy) session.destroy(STOPPING);
  }
}

/** True if the connection ended before the server said anything about the message. */
function wasOver(attempt: Attempt): boolean {
  if (attempt.kind !== "broken" && attempt.kind !== "refused") return false;
  const { stage, code } = attempt.reply;
  return stage === "mail-from" && (attempt.kind === "broken" || code === 421);
}
