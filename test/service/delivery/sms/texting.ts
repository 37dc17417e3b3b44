/** A store with one project, a text message sender using real sockets, and a gateway with scripted paths. */
import { readText } from "../../../helpers/read-text.ts";
import { createLog, silentLog } from "../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { DeliveryMetrics } from "../../../../src/service/metrics/delivery-metrics.ts";
import type { SmsGateway } from "../../../../src/service/delivery/sms/gateway.ts";
import { hookSecret, smsHookPath } from "../../../../src/service/domain/delivery/hook-secrets.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { Properties } from "../../../../src/contract/resources.ts";
import { Heartbeat } from "../../../../src/service/sending/heartbeat.ts";
import { Scheduler } from "../../../../src/service/sending/scheduler.ts";
import { SmsHook } from "../../../../src/service/delivery/sms/sms-hook.ts";
import { openSmsDelivery, type SmsOptions } from "../../../../src/service/sending/sms.ts";
import { type HookPlan, type HookReceiver, startHookReceiver } from "../../../helpers/hook-receiver.ts";
import { createWarpedClock, type WarpedClock } from "../../../helpers/warped-clock.ts";
import { openFixture, sendInput, type Fixture } from "../../domain/fixture.ts";

export const APP_URL = "https://survey.example.com";

export interface Texting extends Fixture {
  readonly clock: WarpedClock;
  readonly gateway: HookReceiver;
  readonly errors: unknown[];
  readonly logged: () => string;
  readonly ask: (phoneNumber: string, properties?: Properties) => Promise<void>;
  /** The survey's state, attempts and reason, followed by the outcomes in its log. */
  readonly stateOf: (phoneNumber: string) => Promise<string>;
  readonly lastAttempt: (phoneNumber: string) => Promise<Readonly<Record<string, unknown>>>;
  readonly sent: (path?: string) => readonly Record<string, string>[];
  readonly text: (fields: Readonly<Record<string, string>>, request?: Partial<Posted>) => Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface Posted {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly query: string;
  readonly secret: string;
}

export interface TextingOptions extends Partial<Omit<SmsOptions, "gateway" | "limits">> {
  readonly path?: string;
  readonly plans?: Readonly<Record<string, HookPlan>>;
  readonly gateway?: Partial<SmsGateway>;
  readonly limits?: Partial<SmsOptions["limits"]>;
  readonly maxAgeSeconds?: number;
}

const LIMITS = { daily: 200, maxSegments: 3, countries: null, quiet: null } as const;

export function saying(status: number, text: string, headers: Readonly<Record<string, string>> = {}): HookPlan {
  return (_, response) => void response.writeHead(status, headers).end(text);
}

export const lost: HookPlan = (_, response) => void response.socket?.destroy();

export function inTurn(...plans: readonly HookPlan[]): HookPlan {
  return (n, response, request) => (plans[n - 1] ?? plans.at(-1))?.(n, response, request);
}

export async function openTexting(options: TextingOptions = {}): Promise<Texting> {
  const { path = "/ok", plans = {}, gateway: given = {}, limits = {}, maxAgeSeconds = null, ...more } = options;
  const gateway = await startHookReceiver({ "/ok": saying(200, '{"id":"m1"}'), ...plans });
  const [fixture, clock] = [await openFixture(), createWarpedClock()];
  Object.defineProperty(fixture.time, "now", { get: () => Math.floor(clock.now() / 1000) });
  const { store, project } = fixture;
  const errors: unknown[] = [];
  const metrics = new DeliveryMetrics();
  const header = { name: "Authorization", value: "Bearer gateway-secret" };
  const settings: SmsGateway = { url: gateway.url + path, format: "json", header, from: null, fields: {}, ...given };
  const delivery = await openSmsDelivery({
    gateway: settings,
    mode: "link",
    onlyTo: null,
    linkUrl: null,
    ...more,
    limits: { ...LIMITS, ...limits },
    store,
    clock,
    random: systemRandom,
    log: silentLog,
    appUrl: () => APP_URL,
    process: "one",
    senderName: "Acme",
    wake: () => scheduler.wake(),
    onError: (error) => errors.push(error),
  });
  const scheduler = new Scheduler({
    store,
    clock,
    claimer: "one",
    heartbeat: new Heartbeat({ store, clock, claimer: "one", onUnknown: "hold" }),
    senders: [delivery.sender, delivery.replies],
    maxAgeSeconds,
    onUnknown: "hold",
    onOutcome: (due, result, seconds) => metrics.count(due, result, seconds),
    onError: (error) => errors.push(error),
  });
  const lines: string[] = [];
  const hook = new SmsHook({
    store,
    clock,
    log: createLog(async (text) => void lines.push(text), clock),
    countries: limits.countries ?? null,
    appUrl: () => APP_URL,
    format: settings.format,
    windowSeconds: 30 * 86_400,
    metrics,
    onText: () => scheduler.wake(),
  });
  scheduler.start();
  const secret = await fixture.write((tx) => hookSecret(tx, "sms"));
  const rowOf = (phoneNumber: string) =>
    fixture.read(async (tx) => {
      const person = await tx.people.byPhone(project.id, phoneNumber);
      const [row] = await tx.deliveries.ofPerson(project.id, person?.id ?? 0, 1);
      return { row: row!, log: await tx.deliveries.attempts(project.id, row!.requestId, 20) };
    });
  return {
    ...fixture,
    clock,
    gateway,
    errors,
    logged: () => lines.join(""),
    ask: async (phoneNumber, properties = {}) => {
      await fixture.write(async (tx) => {
        await tx.projects.setThrottle(project.id, null);
        return sendPerson(tx, project, sendInput({ phoneNumber, channel: "sms", properties }));
      });
      scheduler.wake();
    },
    stateOf: async (phoneNumber) => {
      const { row, log } = await rowOf(phoneNumber);
      const outcomes = log.map(({ outcome }) => outcome).join(",");
      return [row.state, row.attempts, row.reason ?? "-", outcomes].join(" | ");
    },
    lastAttempt: async (phoneNumber) => {
      const { outcome, stage, code, enhancedCode, text, serverId } = (await rowOf(phoneNumber)).log.at(-1)!;
      return { outcome, stage, code, enhancedCode, text, serverId };
    },
    sent: (on = path) => gateway.on(on).map(({ headers, body }) => readBody(headers["content-type"], body)),
    text: async (fields, request = {}) => {
      const form = { "content-type": "application/x-www-form-urlencoded" };
      const { method = "POST", headers = form, body = new URLSearchParams(fields).toString(), query = "" } = request;
      const to = smsHookPath(request.secret ?? secret);
      const answer = await hook.handle({
        method,
        headers,
        query,
        path: to,
        origin: APP_URL,
        from: "192.0.2.1",
        body: async () => Buffer.from(body),
      });
      return answer === null ? "not found" : `${answer.status} ${await readText(answer)}`.trim();
    },
    stop: async () => {
      await scheduler.stop();
      await delivery.sender.close();
      await gateway.close();
      await store.close();
    },
  };
}

function readBody(type: string | undefined, body: string): Record<string, string> {
  if (type === "application/json") return JSON.parse(body) as Record<string, string>;
  return Object.fromEntries(new URLSearchParams(body));
}
