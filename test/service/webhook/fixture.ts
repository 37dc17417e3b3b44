import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import type { Log, LogFields } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import type { Project } from "../../../src/service/domain/inputs.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import type { NewWebhook, Store, WebhookDelivery, WebhookRow } from "../../../src/service/domain/ports.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { addResponse } from "../../../src/service/domain/answers/responses.ts";
import { WEBHOOK_EVENTS } from "../../../src/service/domain/webhooks/webhook.ts";
import { Dispatcher, type DispatcherOptions } from "../../../src/service/webhook/dispatcher.ts";
import { links, openStore, responseInput, sendInput, START } from "../domain/fixture.ts";

export interface HandClock extends Clock {
  readonly advance: (seconds: number) => Promise<void>;
}

export function createHandClock(): HandClock {
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  const time = { ms: START * 1000 };
  return {
    now: () => time.ms,
    monotonic: () => time.ms,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { at: time.ms + ms, wake: resolve };
        if (signal?.aborted === true) {
          reject(signal.reason as Error);
          return;
        }
        sleepers.add(sleeper);
        // Too short for a test to advance the clock.
        if (ms < 1000) setTimeout(() => sleepers.delete(sleeper) && resolve(), 1);
        signal?.addEventListener("abort", () => {
          if (sleepers.delete(sleeper)) reject(signal.reason as Error);
        });
      }),
    advance: async (seconds) => {
      time.ms += seconds * 1000;
      for (const sleeper of [...sleepers].filter(({ at }) => at <= time.ms)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}

export interface HookFixture<Time extends Clock> {
  readonly store: Store;
  readonly project: Project;
  readonly clock: Time;
  readonly dispatcher: Dispatcher;
  readonly lines: { readonly event: string; readonly fields: LogFields }[];
  readonly errors: unknown[];
  /** Stored directly, without the checks of `webhook add`. */
  readonly add: (url: string, more?: Partial<NewWebhook>) => Promise<WebhookRow>;
  readonly answer: (email?: string, score?: number) => Promise<string>;
  readonly answerAgain: (personId: string, score: number) => Promise<void>;
  readonly deliveries: (webhook: WebhookRow) => Promise<readonly WebhookDelivery[]>;
  readonly webhook: (webhook: WebhookRow) => Promise<WebhookRow>;
  readonly settled: (
    webhook: WebhookRow,
    done?: (deliveries: readonly WebhookDelivery[]) => boolean,
  ) => Promise<readonly WebhookDelivery[]>;
  readonly close: () => Promise<void>;
}

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export async function openHookFixture<Time extends Clock>(
  clock: Time,
  options: Partial<Pick<DispatcherOptions, "own" | "resolve" | "clock">> & { readonly file?: string } = {},
): Promise<HookFixture<Time>> {
  const { file, own = () => [], ...rest } = options;
  const wake: { call: () => void } = { call: () => undefined };
  const store = await openStore({
    ...(file === undefined ? {} : { file }),
    clock,
    appUrl: () => "https://surveys.example",
    onWebhookEvent: () => wake.call(),
  });
  const project = await store.write(async (tx) => (await tx.projects.byName("default")) ?? addProject(tx, "default"), {
    project: "all",
  });
  const lines: { event: string; fields: LogFields }[] = [];
  const errors: unknown[] = [];
  const add = (event: string, fields: LogFields): void => void lines.push({ event, fields });
  const log: Log = { info: add, warn: add, error: add, flush: () => undefined };
  const onError = (error: unknown): void => void errors.push(error);
  // With a manual clock, the poll for other processes' changes would never come.
  const looked = clock === systemClock ? store : { ...store, pollSeconds: 86_400 };
  const dispatcher = new Dispatcher({ store: looked, clock, random: systemRandom, log, own, onError, ...rest });
  wake.call = () => dispatcher.wake();
  const answerAs = (personId: string, score: number): Promise<unknown> =>
    store.write((tx) => addResponse(tx, project, responseInput({ personId, score }), links), { project: "all" });
  const deliveries = (webhook: WebhookRow): Promise<readonly WebhookDelivery[]> =>
    store.read((tx) => tx.webhooks.deliveries(project.id, webhook.id, { failed: false, before: null, limit: 20_000 }));
  const settled = async (
    webhook: WebhookRow,
    done = (all: readonly WebhookDelivery[]) => all.every(({ attempts }) => attempts > 0),
  ): Promise<readonly WebhookDelivery[]> => {
    for (;;) {
      const all = await deliveries(webhook);
      if (done(all)) return all;
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
  };
  const names = { count: 0 };
  return {
    store,
    project,
    clock,
    dispatcher,
    lines,
    errors,
    add: (url, more = {}) =>
      store.write(
        (tx) =>
          tx.webhooks.insert(project.id, {
            url,
            secret: SECRET,
            signatureHeader: "X-Webhook-Signature",
            allowPrivate: true,
            insecureHttp: false,
            events: WEBHOOK_EVENTS,
            scores: null,
            format: "json",
            ...more,
          }),
        { project: "all" },
      ),
    answer: async (email = `person-${(names.count += 1)}@example.com`, score = 9) => {
      const { person } = await store.write((tx) => sendPerson(tx, project, sendInput({ email, send: false })), {
        project: "all",
      });
      await answerAs(person.id, score);
      return person.id;
    },
    answerAgain: async (personId, score) => void (await answerAs(personId, score)),
    deliveries,
    webhook: async ({ id }) => (await store.read((tx) => tx.webhooks.byId(project.id, id)))!,
    settled,
    close: async () => {
      await dispatcher.stop();
      await store.close();
    },
  };
}
