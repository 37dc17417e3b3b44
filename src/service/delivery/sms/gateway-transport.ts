/** Sends a message with one POST, whose body is sent only after the message has been marked. */
import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { type Clock, withTimeout } from "../../../runtime/clock.ts";
import {
  type AnswerStart,
  certificateFault,
  describeHttpFailure,
  readAnswerStart,
  retryAfterSeconds,
} from "../../../runtime/http-exchange.ts";
import { GATEWAY_STAGE } from "../../domain/delivery/deliveries.ts";
import type { Carrier, CarrierProgress, CarrierReply, CarrierResult } from "../carrier.ts";
import { maskSecret, readGatewayAnswer, type SmsGateway, toGatewayRequest } from "./gateway.ts";
import { type GatewayMeaning, HELD, PLAIN, RETRY, type SmsMessage } from "./providers/provider.ts";

export interface GatewayReply extends CarrierReply {
  readonly meaning: GatewayMeaning;
}

const CONNECT_MS = 20_000;
const ANSWER_MS = 60_000;
const BODY_BYTES_MAX = 64 * 1024;
const LOGGED_BYTES_MAX = 1_024;
const LOST_REPLY: GatewayMeaning = { ...PLAIN, outcome: "unknown", sender: "back-off" };

/**
 * Opens a new connection per message: if the gateway closed an idle one during the request, the outcome would be
 * unknown.
 */
export class GatewayTransport implements Carrier<SmsMessage, GatewayReply> {
  readonly #gateway: SmsGateway;
  readonly #clock: Clock;
  readonly #isTls: boolean;
  readonly #agent: HttpAgent;

  constructor(gateway: SmsGateway, clock: Clock) {
    this.#gateway = gateway;
    this.#clock = clock;
    this.#isTls = gateway.url.startsWith("https:");
    this.#agent = new (this.#isTls ? HttpsAgent : HttpAgent)({ keepAlive: false });
  }

  async send(message: SmsMessage, progress: CarrierProgress): Promise<CarrierResult<GatewayReply>> {
    if (!(await progress.mayStillSend())) return { kind: "withdrawn" };
    const clock = this.#clock;
    const startedMs = clock.monotonic();
    const { headers, body } = toGatewayRequest(this.#gateway, message);
    const request = this.#open(headers, body);
    const failure = watchFailure(request);
    try {
      await within(clock, CONNECT_MS, "connection", Promise.race([this.#connected(request), failure]));
    } catch (error) {
      request.destroy();
      const { code = "", message: said } = error as NodeJS.ErrnoException;
      const meaning = certificateFault(code, said) === null ? RETRY : HELD;
      const facts = { stage: "connect", code: null, text: describeHttpFailure(error), startedMs };
      return { kind: "broken", isPastDot: false, reply: this.#reply(facts, meaning) };
    }
    try {
      await progress.transmitting();
    } catch (error) {
      request.destroy();
      throw error;
    }
    try {
      const answer = await within(clock, ANSWER_MS, "answer", transmit(request, body, failure));
      return this.#interpret(answer, startedMs);
    } catch (error) {
      request.destroy();
      const text = rawStart(error) ?? describeHttpFailure(error);
      const reply = this.#reply({ stage: GATEWAY_STAGE, code: null, text, startedMs }, LOST_REPLY);
      return { kind: "broken", isPastDot: true, reply };
    }
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }

  #open(headers: Readonly<Record<string, string>>, body: string): ClientRequest {
    const all = { ...headers, accept: "application/json, */*", "content-length": String(Buffer.byteLength(body)) };
    const options = { method: "POST", headers: all, agent: this.#agent };
    return (this.#isTls ? requestHttps : requestHttp)(this.#gateway.url, options);
  }

  #connected(request: ClientRequest): Promise<void> {
    return new Promise((resolve) => {
      request.once("socket", (socket) => {
        if (socket.connecting) socket.once(this.#isTls ? "secureConnect" : "connect", resolve);
        else resolve();
      });
    });
  }

  #interpret({ status, bytes, retryAfter }: AnswerStart, startedMs: number): CarrierResult<GatewayReply> {
    const text = new TextDecoder().decode(bytes);
    const answer = { status, text, retryAfter: retryAfterSeconds(retryAfter, this.#clock) };
    const meaning = readGatewayAnswer(this.#gateway.format, answer);
    const start = new TextDecoder().decode(bytes.subarray(0, LOGGED_BYTES_MAX));
    const reply = this.#reply({ stage: GATEWAY_STAGE, code: status, text: start, startedMs }, meaning);
    return { kind: meaning.outcome === "sent" ? "accepted" : "refused", reply };
  }

  #reply(
    { startedMs, text, ...facts }: Pick<GatewayReply, "stage" | "code" | "text"> & { readonly startedMs: number },
    meaning: GatewayMeaning,
  ): GatewayReply {
    return {
      ...facts,
      enhancedCode: meaning.code,
      text: maskSecret(text, this.#gateway).replaceAll("\0", "\uFFFD"),
      host: new URL(this.#gateway.url).host,
      serverId: meaning.serverId,
      ms: this.#clock.monotonic() - startedMs,
      meaning,
    };
  }
}

function watchFailure(request: ClientRequest): Promise<never> {
  const failure = new Promise<never>((_, reject) => {
    request.on("error", reject);
    request.on("close", () => reject(new Error("the connection broke")));
  });
  failure.catch(() => undefined);
  return failure;
}

async function transmit(request: ClientRequest, body: string, failure: Promise<never>): Promise<AnswerStart> {
  const response = new Promise<IncomingMessage>((resolve) => void request.once("response", resolve));
  request.end(body);
  // Once the status has arrived, losing the connection only truncates the response.
  return readAnswerStart(await Promise.race([response, failure]), request, BODY_BYTES_MAX);
}

async function within<Result>(clock: Clock, ms: number, what: string, work: Promise<Result>): Promise<Result> {
  const result = await withTimeout(clock, ms, work, null);
  if (result === null) throw new Error(`no ${what} within ${ms / 1000} s`);
  return result;
}

function rawStart(error: unknown): string | null {
  const { rawPacket } = error as { readonly rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, LOGGED_BYTES_MAX).toString("utf8") : null;
}
