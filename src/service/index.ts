/** The service, wired: store, rules, HTTP, scheduler, delivery, control. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { HttpResponse } from "../contract/http.ts";
import { unixSeconds, type Clock } from "../runtime/clock.ts";
import { createSignal } from "../runtime/wake-loop.ts";
import { resolveFile } from "../runtime/files/file-replacement.ts";
import { processName } from "../runtime/files/processes.ts";
import type { Admin } from "./control/commands.ts";
import { createAdmin } from "./control/create-admin.ts";
import { chooseSender, NO_SENDER } from "./delivery/message/sender.ts";
import { type MailContext, previewMail } from "./delivery/message/survey-mail.ts";
import type { SmtpSender } from "./delivery/mail/mail-sender.ts";
import type { HookRequest, Hooks } from "./delivery/bounce/hooks.ts";
import type { SmsHook } from "./delivery/sms/sms-hook.ts";
import { createOutbox } from "./delivery/outbox.ts";
import { type Brand, readBrand } from "./domain/projects/brand.ts";
import type { Project } from "./domain/inputs.ts";
import type { Store } from "./domain/ports.ts";
import { type ProjectSettings, readSettings } from "./domain/projects/projects.ts";
import { createDeliveryMetrics, type DeliveryMetrics } from "./delivery-metrics.ts";
import { createHttpService, type Face, bodyBytes, type ServerExchange } from "./http/create-http-service.ts";
import { createWaitLimit, type RateLimit } from "./http/rate-limit.ts";
import { createDispatcher } from "./webhook/dispatcher.ts";
import type { MailDeliveryOptions } from "./mail-delivery.ts";
import type { SmsDelivery, SmsDeliveryOptions, SmsHookWiring, SmsOptions } from "./sms-delivery.ts";
import { openData } from "./data-file/open-data-file.ts";
import { createPages } from "./page/create-pages.ts";
import { createDigestLoop } from "./scheduler/digests.ts";
import { createHeartbeat } from "./scheduler/heartbeat.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { syncErasures } from "./data-file/erasure-file.ts";
import { createFailureLog, createNotices, logOverdue, logPaused, logStart, logStoreEvent } from "./service-log.ts";
import { createServiceAddress } from "./service-address.ts";
import { createServiceMetrics } from "./service-metrics.ts";
import type { ServiceOptions } from "./service-options.ts";
import { createUpkeep } from "./upkeep.ts";

/** `handle` is one request, one answer; no port needed. */
export interface Service extends Face {
  /** As `handle`, for callers on this machine: lists go on where they were asked for, whatever the public URL is. */
  readonly handleLocally: ServerExchange;
  /** Metrics and health alone, for a listener of their own. */
  readonly operators: Face;
  readonly admin: Admin;
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves when the data file had to be given up; nothing is acknowledged any more, and `close` is due. */
  readonly lost: Promise<Error>;
  /** Rejects with ForeignOutboxError when others could read or change messages. */
  checkOutbox(): Promise<void>;
  /** The beginning of links in messages, once the address is known; keeps the part that commands ask for. */
  setAddress(url: string): Promise<void>;
  /** Starts to deliver what is due. */
  startScheduler(): void;
  /** Logs what was noticed while the service was opened, and from then on what happens to the data file. */
  startLog(options?: { readonly isAnnounced: boolean }): void;
  /** Starts to send events to webhooks. */
  startWebhooks(): void;
  /** Removes messages whose person is gone; how many. Null when that is left to the next server. */
  readonly sweepMessages: () => Promise<number | null>;
  /** Ends the scheduler once nothing is due any more. */
  finishDue(): Promise<void>;
  /** Claims nothing more and lets transmissions end; `close` does so too. */
  stopDelivering(): Promise<void>;
  /** Whether `/readyz` says so; false as soon as the service drains. */
  setReady(isReady: boolean): void;
  /** Lets the delivery in hand finish and frees the data file. */
  close(): Promise<void>;
}

/** Links that do not exist, for each address. */
const UNKNOWN_LINKS: RateLimit = { requests: 60, periodSeconds: 60 };
/** Answers through public links, for each address: an office or a conference may have but one. */
const ADDRESS_ANSWERS: RateLimit = { requests: 120, periodSeconds: 600 };
/** Answers through one public link, from wherever. */
const LINK_ANSWERS: RateLimit = { requests: 600, periodSeconds: 600 };
const ANSWER_WINDOW_SECONDS = 30 * 86_400;

/** Throws StoreFileError, StoreDatabaseError. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { dataFile, clock, random, log, publicUrl, sender = NO_SENDER } = options;
  const wakeUp = createSignal();
  const eventNoted = createSignal();
  const address = createServiceAddress(publicUrl);
  const state = { isReady: true };
  const notices = createNotices((event) => logStoreEvent(log, dataFile, event));
  const isFile = (options.database ?? null) === null;
  const metrics = createServiceMetrics(clock);
  const store = await openData({
    ...options,
    ...metrics.watch,
    appUrl: address.url,
    onWebhookEvent: eventNoted.call,
    onEvent: (event) => {
      notices.add(event);
      if (event.kind === "recovered") wakeUp.call();
    },
  });
  await address.recall(store);
  const failures = createFailureLog(log);
  const keepErasures = async (): Promise<unknown> =>
    isFile ? syncErasures(store, dataFile, random).catch(failures.add) : null;
  await keepErasures();
  const folder = options.outbox ?? path.join(path.dirname(path.resolve(dataFile)), "outbox");
  const mailContext = (settings: ProjectSettings, { name, accent }: Brand): MailContext => ({
    appUrl: address.url(),
    sender: chooseSender({ ...settings, senderName: name ?? settings.senderName }, sender, address.url()),
    accent: accent?.color ?? null,
  });
  const contextOf = async (project: Project): Promise<MailContext> =>
    store.read(async (tx) => mailContext(await readSettings(tx, project), await readBrand(tx, project)));
  const outbox = createOutbox({
    folder,
    dataFile: isFile ? resolveFile(dataFile) : dataFile,
    clock,
    random,
    context: async (project) => ({ ...(await contextOf(project)), now: unixSeconds(clock) }),
    onError: failures.add,
  });
  const claimer = `${processName()}:${random.token(6)}`;
  const mail = await openMail(options, {
    store,
    process: claimer,
    context: contextOf,
    wake: wakeUp.call,
    onError: failures.add,
  });
  const sms = await openSms(options, {
    store,
    process: claimer,
    appUrl: address.url,
    senderName: sender.senderName,
    metrics: () => deliveries,
    wake: wakeUp.call,
    onError: failures.add,
  });
  const carriers = [...(mail === null ? [] : [mail]), ...(sms === null ? [] : [sms.sender])];
  const left = (["email", "sms"] as const).filter((channel) => !carriers.some((one) => one.channels.includes(channel)));
  const senders = left.length === 0 ? carriers : [...carriers, { ...outbox, channels: left }];
  const deliveries = createDeliveryMetrics(
    () => Object.fromEntries(carriers.map(({ name, health }) => [name, health()])),
    claimer,
  );
  const onUnknown = options.onUnknown ?? "hold";
  const heartbeat = createHeartbeat({ store, clock, claimer, onUnknown });
  const scheduler = createScheduler({
    store,
    clock,
    claimer,
    heartbeat,
    senders,
    holdsMessages: () => options.knowsOutbox !== false || (isFile && existsSync(folder)),
    maxAgeSeconds: options.maxAgeSeconds ?? null,
    guardsOverdue: options.knowsOutbox !== false,
    onUnknown,
    onOutcome: (due, result, seconds) => {
      if (result.kind === "sent") failures.end();
      deliveries.count(due, result, seconds);
    },
    onTurn: metrics.countTurn,
    onOverdue: (held) => logOverdue(log, held, options.maxAgeSeconds ?? 0),
    onPaused: (pause) => logPaused(log, pause),
    onError: failures.add,
  });
  const digests = createDigestLoop({
    store,
    clock,
    random,
    claimer,
    heartbeat,
    hasRoom: () => (mail ?? outbox).capacity(1) > 0,
    deliver: async (due, progress) => {
      const sending = { store, mail, outbox, context: await contextOf(due.project), key: options.mail?.dkim ?? null };
      return (await import("./digest-mail.ts")).deliverDigest(sending, due, progress);
    },
    onError: failures.add,
  });
  wakeUp.answer(scheduler.wake);
  wakeUp.answer(digests.wake);
  const webhooks = createDispatcher({
    store,
    clock,
    random,
    log,
    own: address.own,
    mayStart: heartbeat.isLeader,
    onError: failures.add,
  });
  eventNoted.answer(webhooks.wake);
  const windowSeconds = options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS;
  const pages = createPages({
    store,
    clock,
    publicUrl,
    random,
    answerWindowSeconds: windowSeconds,
    senderName: sender.senderName,
    unknownLinks: createWaitLimit(UNKNOWN_LINKS, clock),
    addressAnswers: createWaitLimit(ADDRESS_ANSWERS, clock),
    linkAnswers: createWaitLimit(LINK_ANSWERS, clock),
    identify: async (authorization, from) => http.keys.open(authorization, from),
    onError: failures.add,
  });
  const hooks = openHooks(options, store, deliveries);
  const onText = (): void => {
    sms?.replies.wake();
    scheduler.wake();
  };
  const texts = openTexts({
    store,
    clock,
    appUrl: address.url,
    format: options.sms?.gateway.format ?? null,
    windowSeconds,
    metrics: deliveries,
    onText,
  });
  const http = createHttpService({
    ...options,
    otherFaces: [
      {
        name: "page",
        answer: ({ method, headers, body = "", from = "" }, target) =>
          pages.handle({ method, headers, from, ...target, body: async () => bodyBytes(body) }),
      },
      {
        name: "hook",
        answer: ({ method, headers, body = "" }, { path: asked, query }) =>
          asked.startsWith("/hooks/sms/")
            ? texts({ method, headers, path: asked, query, body: async () => bodyBytes(body) })
            : null,
      },
      {
        name: "hook",
        answer: ({ method, headers, body = "" }, { path: asked }) =>
          asked.startsWith("/hooks/")
            ? hooks({ method, headers, path: asked, body: async () => bodyBytes(body) })
            : null,
      },
    ],
    store,
    onScheduled: scheduler.wake,
    outboxChannels: left,
    moreMetrics: () => metrics.lines({ store, deliveries, webhookAttempts: webhooks.attempts() }),
    isReady: () => state.isReady && store.trouble() === null,
  });
  /** Messages of a deleted person go with them. */
  const wakingAfterDelete =
    (exchange: ServerExchange): ServerExchange =>
    async (request) => {
      const response = await exchange(request);
      if (request.method === "DELETE") scheduler.wake();
      return response;
    };
  const admin = createAdmin({
    store,
    clock,
    random,
    addSession: http.keys.addSession,
    onRevoke: http.keys.forget,
    onSchedule: () => {
      scheduler.wake();
      digests.wake();
    },
    senders,
    appUrl: address.url,
    renderPreview: (survey, settings, brand) =>
      previewMail(survey, mailContext(settings, brand), random, unixSeconds(clock)),
    onReport: deliveries.countReport,
    ownAddresses: address.own,
    onWebhooks: webhooks.wake,
    sendTest: webhooks.send,
    sweepMessages: scheduler.sweep,
    onErased: async () => {
      webhooks.reread();
      await keepErasures();
    },
  });
  const upkeep = createUpkeep({
    store,
    outbox,
    clock,
    keepSeconds: options.outboxKeepSeconds ?? null,
    sweepMessages: scheduler.sweep,
    onError: failures.add,
  });
  return {
    handle: wakingAfterDelete(http.handle),
    refuse: http.refuse,
    handleLocally: wakingAfterDelete(http.handleLocally),
    operators: { handle: http.handleOperators, refuse: http.refuse },
    admin,
    store,
    clock,
    lost: store.lost,
    checkOutbox: outbox.check,
    setAddress: async (url) => {
      await address.listen(store, url).catch(failures.add);
      await keepBounceAddress(store, sender.bounceAddress).catch(failures.add);
    },
    startScheduler: () => {
      scheduler.start();
      sms?.replies.start();
      digests.start();
      upkeep.start();
    },
    startLog: ({ isAnnounced } = { isAnnounced: false }) => {
      notices.release(isAnnounced ? "created" : null);
      logStart(log, store.about);
    },
    startWebhooks: webhooks.start,
    sweepMessages: scheduler.sweep,
    finishDue: async () => {
      for (const loop of [scheduler, digests]) await loop.finish();
    },
    stopDelivering: async () =>
      void (await Promise.all([scheduler.stop(), digests.stop(), webhooks.stop(), sms?.replies.stop()])),
    setReady: (isReady) => {
      state.isReady = isReady;
    },
    close: async () => {
      await upkeep.stop();
      await scheduler.stop();
      await digests.stop();
      await webhooks.stop();
      await sms?.replies.stop();
      for (const carrier of carriers) await carrier.close();
      await store.close();
      log.flush();
    },
  };
}

/** For `service bounce receive`, which often runs beside the server, and is told nothing of its flags. */
async function keepBounceAddress(store: Store, bounceAddress: string | null): Promise<void> {
  if ((await store.read((tx) => tx.reports.bounceAddress())) === bounceAddress) return;
  await store.write((tx) => tx.reports.setBounceAddress(bounceAddress), { project: "none" });
}

/** Loaded when the first report comes in. */
function openHooks(
  { fetchText }: ServiceOptions,
  store: Store,
  { countReport: onReport, countRefusal: onRefused }: DeliveryMetrics,
): (request: HookRequest) => Promise<HttpResponse | null> {
  const opened: { hooks: Promise<Hooks> | null } = { hooks: null };
  const open = async (): Promise<Hooks> => {
    const [{ createHooks }, sns] = await Promise.all([
      import("./delivery/bounce/hooks.ts"),
      import("./delivery/bounce/sns.ts"),
    ]);
    return createHooks({ store, fetchText: fetchText ?? sns.fetchText, onReport, onRefused });
  };
  return async (request) => (await (opened.hooks ??= open())).handle(request);
}

/** Loaded only where mail is sent: few services do. */
async function openMail(
  { mail = null, clock, random, log }: ServiceOptions,
  given: Pick<MailDeliveryOptions, "store" | "process" | "context" | "wake" | "onError">,
): Promise<SmtpSender | null> {
  if (mail === null) return null;
  const { openMailDelivery } = await import("./mail-delivery.ts");
  return openMailDelivery({ ...mail, clock, random, log, ...given });
}

/** Loaded only where texts are sent. */
async function openSms(
  { sms = null, clock, random, log }: ServiceOptions,
  given: Omit<SmsDeliveryOptions, keyof SmsOptions | "clock" | "random" | "log">,
): Promise<SmsDelivery | null> {
  if (sms === null) return null;
  const { openSmsDelivery } = await import("./sms-delivery.ts");
  return openSmsDelivery({ ...sms, clock, random, log, ...given });
}

/** Loaded when the first text comes in. */
function openTexts(wiring: SmsHookWiring): SmsHook["handle"] {
  const opened: { hook: Promise<SmsHook> | null } = { hook: null };
  const open = async (): Promise<SmsHook> => (await import("./sms-delivery.ts")).openSmsHook(wiring);
  return async (request) => (await (opened.hook ??= open())).handle(request);
}
