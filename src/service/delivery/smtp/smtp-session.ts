import { isAscii } from "node:buffer";
import { connect as connectPlain, type Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls, type ConnectionOptions, TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { Alarm, type Clock } from "../../../runtime/clock.ts";
import { parseReply } from "../mail/parse-reply.ts";
import { CLOSED, describeFailure, createDialogueLogger, commandStage, timeoutError, WAITS } from "./smtp-dialogue.ts";
import type { DialogueError } from "./smtp-dialogue.ts";
import { asOneLine, serverIdIn } from "./smtp-types.ts";
import type { CarrierProgress } from "../carrier.ts";
import type { SmtpMessage, SmtpReply, SmtpStage } from "./smtp-types.ts";
import { maskCredentials, type SmtpServer } from "./smtp-url.ts";

/** Milliseconds. */
export interface SmtpTimeouts {
  /** Covers the DNS lookup, the TCP connection and, with implicit TLS, the handshake. */
  readonly connect: number;
  readonly greeting: number;
  /** Covers the reply to any command, and the handshake after STARTTLS. */
  readonly command: number;
  /** Longer than `command`, because servers process a message before replying (RFC 5321, 4.5.3.2.6). */
  readonly afterDot: number;
  readonly idle: number;
  readonly quit: number;
}

export interface SessionOptions {
  readonly server: SmtpServer;
  readonly certificates: string | null;
  readonly timeouts: SmtpTimeouts;
  readonly clock: Clock;
}

export type SessionOutcome =
  | { readonly kind: "accepted" | "refused" | "unsendable"; readonly reply: Omit<SmtpReply, "ms"> }
  | { readonly kind: "broken"; readonly reply: Omit<SmtpReply, "ms">; readonly isPastDot: boolean };

export interface SessionFacts {
  /** The lines of the last EHLO reply except the first, such as `AUTH PLAIN LOGIN`. */
  readonly capabilities: readonly string[];
  readonly tls: { readonly protocol: string; readonly issuer: string; readonly validUntil: string } | null;
}

type Done<T> = (error: Error | null | undefined, value?: T) => void;

/** Disables nodemailer's timeouts, which ignore the stage; ours fires long before that. */
const NEVER_MS = 24 * 3_600_000;
export class SmtpSession {
  messages = 0;
  readonly #options: SessionOptions;
  readonly #alarm: Alarm;
  #connection: SMTPConnection | null = null;
  #socket: Socket | null = null;
  /** Stages waiting for a reply, in order; with PIPELINING there are several. */
  readonly #awaited: SmtpStage[] = [];
  #stage: SmtpStage = "connect";
  /** True once DATA was accepted: the server's next reply is about the message. */
  #isInMessage = false;
  #isPastDot = false;
  #ehlo = "";
  #tlsFacts: SessionFacts["tls"] = null;
  #end: Error | null = null;
  #fail: ((error: Error) => void) | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  get isOpen(): boolean {
    return this.#connection !== null && this.#end === null;
  }

  get isPastDot(): boolean {
    return this.#isPastDot;
  }

  /** Connects, negotiates TLS and logs in; null on success. */
  async open(): Promise<SessionOutcome | null> {
    try {
      this.#connection = this.#converse(await this.#dial());
      this.#awaited.push("connect");
      this.#expect(this.#options.timeouts.greeting, "the greeting");
      await this.#run((done) => this.#connection?.connect(done));
      this.#tlsFacts = readTlsFacts(this.#connection._socket);
      return await this.#logIn();
    } catch (error) {
      const outcome = this.#toOutcome(this.#end ?? (error as DialogueError));
      this.destroy("the connection could not be used");
      return outcome;
    }
  }

  get facts(): SessionFacts {
    const [, ...lines] = this.#ehlo.split(/\r?\n/).filter(Boolean);
    return { capabilities: lines.map((line) => line.replace(/^250[ -]/, "").trim()), tls: this.#tlsFacts };
  }

  findObstacle(message: SmtpMessage): SessionOutcome | null {
    const addresses = message.from + message.to;
    const sizeMax = Number(/^250[ -]SIZE +(\d+)/im.exec(this.#ehlo)?.[1] ?? 0);
    const isUtf8 = message.needsSmtpUtf8 || /[^\p{ASCII}]/u.test(addresses);
    if (message.to === "" || /[\r\n<>\0]/.test(addresses)) return this.#unsendable("the address cannot be sent");
    if (isUtf8 && !/^250[ -]SMTPUTF8\b/im.test(this.#ehlo))
      return this.#unsendable("the address needs SMTPUTF8, which the server does not support");
    if (sizeMax > 0 && message.bytes.length > sizeMax)
      return this.#unsendable(`the message has ${message.bytes.length} bytes, and the server takes ${sizeMax}`);
    return null;
  }

  async reset(): Promise<boolean> {
    try {
      await this.#run((done) => this.#connection?.reset(done));
      return true;
    } catch {
      this.destroy("RSET failed");
      return false;
    }
  }

  hold(): void {
    this.#alarm.pause();
  }

  rest(): void {
    this.#alarm.set(this.#options.timeouts.idle, () => void this.quit());
  }

  /** Sends one message. If `transmitting` fails, rejects with its error and doesn't send the final dot. */
  async transmit(message: SmtpMessage, transmitting: CarrierProgress["transmitting"]): Promise<SessionOutcome> {
    this.messages += 1;
    this.#isPastDot = false;
    const body = createBody(message.bytes, async () => {
      this.hold();
      await transmitting().catch((error: unknown) => {
        this.destroy("the message was withdrawn before its end");
        throw error;
      });
      // If the transaction has ended, the dot isn't sent.
      if (!this.#isInMessage || !this.isOpen) return false;
      this.#isPastDot = true;
      this.#expect(this.#options.timeouts.afterDot, WAITS["final-dot"]);
      return true;
    });
    const envelope = {
      from: message.from,
      to: message.to,
      size: message.bytes.length,
      use8BitMime: !isAscii(message.bytes),
    };
    const outcome = await this.#run<{ response: string }>((done) =>
      this.#connection?.send(envelope, body.stream, done),
    ).then(
      ({ response }) => this.#accepted(response),
      (error: unknown) => this.#toOutcome(error as DialogueError),
    );
    // Without its dot, the message is still open, so the connection can't be used again.
    if (this.#isInMessage && !this.#isPastDot) this.destroy("the message was cut off");
    this.#isInMessage = false;
    this.#isPastDot = false;
    await body.ended();
    return outcome;
  }

  async quit(): Promise<void> {
    if (!this.isOpen) return;
    this.#alarm.set(this.#options.timeouts.quit, () => this.destroy("QUIT had no reply"));
    await this.#run(() => this.#connection?.quit()).catch(() => undefined);
    this.destroy("the connection was closed");
  }

  destroy(reason: string): void {
    this.#break(new Error(reason));
    this.#connection?.close();
    this.#socket?.destroy();
  }

  #dial(): Promise<Socket> {
    const { server, timeouts } = this.#options;
    const { host, port } = server;
    const isImplicit = server.security === "implicit";
    return new Promise((resolve, reject) => {
      if (this.#end !== null) throw this.#end;
      const socket = isImplicit ? connectTls({ host, port, ...this.#tls() }) : connectPlain({ host, port });
      this.#socket = socket;
      this.#alarm.set(timeouts.connect, () => socket.destroy(timeoutError(timeouts.connect, WAITS.connect)));
      if (isImplicit) socket.once("connect", () => (this.#stage = "starttls"));
      // Has no effect once the promise is settled.
      socket.on("error", reject).on("close", () => reject(new Error(CLOSED)));
      socket.once(isImplicit ? "secureConnect" : "connect", () => {
        this.#stage = "connect";
        resolve(socket);
      });
    });
  }

  #tls(): ConnectionOptions {
    const { certificates, server } = this.#options;
    const isName = /[a-z]/i.test(server.host) && !server.host.includes(":");
    return {
      // Explicit, so that no environment variable disables it.
      rejectUnauthorized: true,
      ...(certificates === null ? {} : { ca: certificates }),
      ...(isName ? { servername: server.host } : {}),
    };
  }

  #converse(socket: Socket): SMTPConnection {
    const { server } = this.#options;
    const isImplicit = server.security === "implicit";
    const connection = new SMTPConnection({
      connection: socket,
      host: server.host,
      port: server.port,
      secure: isImplicit,
      secured: isImplicit,
      requireTLS: server.security === "required",
      ignoreTLS: server.security === "off",
      tls: this.#tls(),
      connectionTimeout: NEVER_MS,
      greetingTimeout: NEVER_MS,
      socketTimeout: NEVER_MS,
      socketCloseTimeout: 0,
      transactionLog: true,
      logger: createDialogueLogger((side, text) => (side === "client" ? this.#said(text) : this.#heard(text))),
    });
    connection.on("error", (error: Error) => this.#break(error));
    // nodemailer closes the connection before passing on the reply that caused it.
    connection.on("end", () => {
      this.#end ??= new Error(CLOSED);
      queueMicrotask(() => this.#break(new Error(CLOSED)));
    });
    return connection;
  }

  async #logIn(): Promise<SessionOutcome | null> {
    const { credentials } = this.#options.server;
    if (credentials === null) return null;
    this.#stage = "auth";
    if (this.#connection?.allowsAuth !== true) {
      await this.quit();
      return { kind: "refused", reply: this.#reply(null, "the server does not offer AUTH") };
    }
    const { user, password: pass } = credentials;
    await this.#run((done) => this.#connection?.login({ credentials: { user, pass } }, done));
    return null;
  }

  #said(line: string): void {
    if (line === "QUIT") return;
    const stage = commandStage(line) ?? "auth";
    // If no recipient was accepted, nodemailer sends the dot itself, and no one gets the message.
    if (line === ".") this.#isInMessage = false;
    this.#awaited.push(stage);
    if (this.#awaited.length === 1) this.#expect(this.#options.timeouts.command, WAITS[stage]);
  }

  #heard(reply: string): void {
    this.#stage = this.#awaited.shift() ?? this.#stage;
    if (this.#stage === "ehlo") this.#ehlo = reply;
    // 354, or 250 from servers that confuse the two codes.
    if (this.#stage === "data" && !this.#isInMessage) this.#isInMessage = /^[23]/.test(reply);
    const next = this.#awaited[0] ?? this.#stage;
    if (!this.#isInMessage) this.#expect(this.#options.timeouts.command, WAITS[next]);
  }

  #expect(ms: number, what: string): void {
    this.#alarm.set(ms, () => {
      this.#break(timeoutError(ms, what));
      this.destroy("timed out");
    });
  }

  /** Rejects when the connection ends, because nodemailer doesn't report that to every callback. */
  #run<T = unknown>(start: (done: Done<T>) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#end !== null) {
        reject(this.#end);
        return;
      }
      this.#fail = reject;
      start((error, value) => {
        if (error) reject(error);
        else resolve(value as T);
      });
    }).finally(() => {
      this.#fail = null;
    });
  }

  #break(error: Error): void {
    this.#end ??= error;
    this.#alarm.clear();
    this.#fail?.(error);
  }

  #accepted(response: string): SessionOutcome {
    const { code, enhancedCode, text } = parseReply(response);
    if (!this.#isPastDot) return this.#broken("the server replied before the message ended");
    this.#stage = "final-dot";
    return { kind: "accepted", reply: { ...this.#reply(code, text), enhancedCode, serverId: serverIdIn(text) } };
  }

  #toOutcome(error: DialogueError): SessionOutcome {
    const { code, enhancedCode, text } = parseReply(error.response ?? "");
    const isRefusal = code !== null && code >= 400;
    this.#stage = this.#findStage(error, isRefusal);
    if (isRefusal) return { kind: "refused", reply: { ...this.#reply(code, text), enhancedCode } };
    return this.#broken(text === "" ? describeFailure(error) : `unexpected reply: ${error.response}`);
  }

  /** A rejection belongs to its own command; a lost connection, to the pending reply. */
  #findStage(error: DialogueError, isRefusal: boolean): SmtpStage {
    if (this.#isPastDot) return "final-dot";
    if (!isRefusal) return this.#awaited[0] ?? this.#stage;
    return commandStage(error.command) ?? this.#stage;
  }

  #broken(text: string): SessionOutcome {
    return { kind: "broken", reply: this.#reply(null, text), isPastDot: this.#isPastDot };
  }

  #unsendable(text: string): SessionOutcome {
    this.#stage = "mail-from";
    return { kind: "unsendable", reply: this.#reply(null, text) };
  }

  #reply(code: number | null, text: string): Omit<SmtpReply, "ms"> {
    const { server } = this.#options;
    const words = asOneLine(maskCredentials(text, server));
    return { stage: this.#stage, code, enhancedCode: null, text: words, host: server.host, serverId: null };
  }
}

function readTlsFacts(socket: unknown): SessionFacts["tls"] {
  if (!(socket instanceof TLSSocket)) return null;
  const { issuer, valid_to: validUntil } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "TLS", issuer: String(issuer.O ?? issuer.CN), validUntil };
}

/** nodemailer reads the stream once for the bytes and again for the end, which waits for `mayEnd`. */
function createBody(bytes: Uint8Array, mayEnd: () => Promise<boolean>) {
  let isGiven = false;
  let ending: Promise<void> | null = null;
  const end = async (stream: Readable): Promise<void> => {
    if (await mayEnd()) stream.push(null);
  };
  const stream = new Readable({
    read() {
      if (isGiven) {
        ending ??= end(this);
        ending.catch(() => undefined);
        return;
      }
      isGiven = true;
      this.push(bytes);
    },
  });
  return { stream, ended: async () => ending };
}
