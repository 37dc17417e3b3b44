/** Sends a message with one POST, whose body is sent only after the mark. */
import { Agent as HttpAgent, request as requestHttp, type ClientRequest } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Clock } from "../../../runtime/clock.ts";
import {
  describeHttpFailure,
  retryAfterSeconds,
  type AnswerStart,
  readAnswerStart,
  startDeadline,
} from "../../../runtime/http-exchange.ts";
import { GATEWAY_STAGE } from "../../domain/delivery/deliveries.ts";
import type { Carrier, CarrierReply, CarrierResult } from "../carrier.ts";
import { maskSecret, readGatewayAnswer, type SmsGateway, toGatewayRequest } from "./gateway.ts";
import { type GatewayMeaning, HELD, PLAIN, RETRY } from "./providers/answers.ts";
import type { SmsMessage } from "./providers/provider.ts";

export interface GatewayReply extends CarrierReply {
  readonly meaning: GatewayMeaning;
}

export type GatewayTransport = Carrier<SmsMessage, GatewayReply>;

const CONNECT_MS = 20_000;
const ANSWER_MS = 60_000;
const BODY_BYTES_MAX = 64 * 1024;
const LOGGED_BYTES_MAX = 1_024;

/**
 * Uses a new connection per message: the gateway may close an idle one just as a message is sent, and then no one knows
 * whether it arrived. Doesn't follow redirects.
 */
export function createGatewayTransport(gateway: SmsGateway, clock: Clock): GatewayTransport {
  const { url, format } = gateway;
  const isTls = url.startsWith("https:");
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: false });
  const { host } = new URL(url);
  const open = (message: SmsMessage): Exchange => {
    const { headers, body } = toGatewayRequest(gateway, message);
    const all = { ...headers, accept: "application/json, */*", "content-length": String(Buffer.byteLength(body)) };
    const request = (isTls ? requestHttps : requestHttp)(url, { method: "POST", headers: all, agent });
    return { request, body, isTls };
  };
  return {
    send: async (message, progress) => {
      if (!(await progress.mayStillSend())) return { kind: "withdrawn" };
      const startedMs = clock.monotonic();
      const toReply = (stage: string, code: number | null, text: string, meaning: GatewayMeaning): GatewayReply => {
        const { serverId, code: enhancedCode } = meaning;
        const said = maskSecret(text, gateway).replaceAll("\0", "\uFFFD");
        return { stage, code, enhancedCode, text: said, host, serverId, ms: clock.monotonic() - startedMs, meaning };
      };
      const exchange = open(message);
      const failures = watchFailures(exchange.request);
      try {
        await connect(exchange, failures, clock, CONNECT_MS);
      } catch (error) {
        exchange.request.destroy();
        const reply = toReply("connect", null, describeHttpFailure(error), meaningOfNoConnection(error));
        return { kind: "broken", isPastDot: false, reply };
      }
      try {
        await progress.transmitting();
      } catch (error) {
        exchange.request.destroy();
        throw error;
      }
      return transmit(exchange, failures, { clock, ms: ANSWER_MS }).then(
        ({ status, bytes, retryAfter }): CarrierResult<GatewayReply> => {
          const text = new TextDecoder().decode(bytes);
          const answer = { status, text, retryAfter: retryAfterSeconds(retryAfter, clock) };
          const meaning = readGatewayAnswer(format, answer);
          const start = new TextDecoder().decode(bytes.subarray(0, LOGGED_BYTES_MAX));
          const reply = toReply(GATEWAY_STAGE, status, start, meaning);
          return { kind: meaning.outcome === "sent" ? "accepted" : "refused", reply };
        },
        (error: unknown): CarrierResult<GatewayReply> => {
          exchange.request.destroy();
          const said = rawStart(error) ?? describeHttpFailure(error);
          return { kind: "broken", isPastDot: true, reply: toReply(GATEWAY_STAGE, null, said, LOST_REPLY) };
        },
      );
    },
    close: async () => agent.destroy(),
  };
}

interface Exchange {
  readonly request: ClientRequest;
  readonly body: string;
  readonly isTls: boolean;
}

const LOST_REPLY: GatewayMeaning = { ...PLAIN, outcome: "unknown", sender: "back-off" };
const BAD_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ALTNAME/;

function meaningOfNoConnection(error: unknown): GatewayMeaning {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (BAD_CERTIFICATE.test(code)) return HELD;
  return RETRY;
}

function watchFailures(request: ClientRequest): Promise<never> {
  const failure = new Promise<never>((_, reject) => {
    request.on("error", reject);
    request.on("close", () => reject(new Error("the connection broke")));
  });
  failure.catch(() => undefined);
  return failure;
}

async function connect({ request, isTls }: Exchange, failure: Promise<never>, clock: Clock, ms: number): Promise<void> {
  const connected = new Promise<void>((resolve) => {
    request.once("socket", (socket) => {
      if (socket.connecting) socket.once(isTls ? "secureConnect" : "connect", resolve);
      else resolve();
    });
  });
  await withinTime(clock, ms, "no connection", Promise.race([connected, failure]));
}

async function transmit(
  { request, body }: Exchange,
  failure: Promise<never>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<AnswerStart> {
  const state = { isAnswered: false };
  const answered = new Promise<AnswerStart>((resolve, reject) => {
    request.once("response", (response) => {
      state.isAnswered = true;
      void readAnswerStart(response, request, BODY_BYTES_MAX).then(resolve, reject);
    });
  });
  request.end(body);
  // Once there is a status, the end of the connection is part of the response.
  const broken = failure.catch(async (error: unknown) => {
    if (!state.isAnswered) throw error;
    return answered;
  });
  return withinTime(clock, ms, "no answer", Promise.race([answered, broken]));
}

async function withinTime<Result>(clock: Clock, ms: number, what: string, work: Promise<Result>): Promise<Result> {
  const deadline = startDeadline(clock, ms);
  const over = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener("abort", () => reject(new Error(`${what} within ${ms / 1000} s`)), { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    deadline.stop();
  }
}

function rawStart(error: unknown): string | null {
  const { rawPacket } = error as { readonly rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, LOGGED_BYTES_MAX).toString("utf8") : null;
}
