/** The service, wired: store, rules, HTTP, scheduler, delivery, control. */
import path from "node:path";
import type { HttpResponse } from "../contract/http.ts";
import { unixSeconds, type Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Random } from "../runtime/random.ts";
import { resolveFile } from "../runtime/file-replacement.ts";
import type { Admin } from "./control/commands.ts";
import { createAdmin } from "./control/create-admin.ts";
import { removeControlFile } from "./control/control-file.ts";
import { chooseSender, DEFAULT_ADDRESS, NO_SENDER, type SenderSettings } from "./delivery/message/sender.ts";
import { type MailContext, previewMail } from "./delivery/message/survey-mail.ts";
import type { SmtpSender } from "./delivery/mail/mail-sender.ts";
import type { HookRequest, Hooks } from "./delivery/bounce/hooks.ts";
import type { FetchText } from "./delivery/bounce/sns.ts";
import { createOutbox } from "./delivery/outbox.ts";
import type { OnUnknown } from "./domain/delivery/deliveries.ts";
import { type Brand, readBrand } from "./domain/projects/brand.ts";
import type { Project } from "./domain/inputs.ts";
import type { Store } from "./domain/ports.ts";
import { type ProjectSettings, readSettings } from "./domain/projects/projects.ts";
import { createDeliveryMetrics, type DeliveryMetrics } from "./delivery-metrics.ts";
import { createHttpService, type Face, type ServerExchange, type ServerRequest } from "./http/create-http-service.ts";
import { addressBlock, createAddressLimit, type RateLimit } from "./http/rate-limit.ts";
import { createDispatcher } from "./webhook/dispatcher.ts";
import { webhookMetrics } from "./webhook/webhook-metrics.ts";
import type { StoreEvent } from "./store/store-errors.ts";
import type { MailDeliveryOptions, MailOptions } from "./mail-delivery.ts";
import { type DatabaseChoice, openData } from "./open-data-file.ts";
import { createPages } from "./page/create-pages.ts";
import { createHeartbeat } from "./scheduler/heartbeat.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { syncErasures } from "./erasure-file.ts";
import { createFailureLog, logOverdue, logStoreEvent } from "./service-log.ts";
import { createUpkeep } from "./upkeep.ts";

export interface ServiceOptions {
  /** Created when it does not exist; `outbox/` is beside it. With a database, a name for it without its password. */
  readonly dataFile: string;
  /** The server that keeps the data instead of a file; other processes may use it at the same time. */
  readonly database?: DatabaseChoice | null;
  /** The folder of messages that are not sent; absent: `outbox/` beside the data file. */
  readonly outbox?: string | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the service is seen from outside, without a slash at the end; null: wherever requests are sent to. */
  readonly publicUrl: string | null;
  readonly rateLimit: RateLimit | null;
  /** Who surveys come from, where a project does not say so itself. */
  readonly sender?: SenderSettings;
  /** Sends mail over SMTP; null, the default, leaves it in the outbox, where SMS always go. */
  readonly mail?: MailOptions | null;
  /** Surveys that were due longer ago are given up; null, the default, for no limit. */
  readonly maxAgeSeconds?: number | null;
  /** What becomes of a mail that may have arrived: `hold` is the default. */
  readonly onUnknown?: OnUnknown;
  /** Messages in the outbox are removed after this long; null keeps them. */
  readonly outboxKeepSeconds?: number | null;
  /** How long after the first answer it may be changed on its page; absent or null: 30 days. */
  readonly answerWindowSeconds?: number | null;
  /** Gets certificates and confirmations of Amazon's; absent: over the network. */
  readonly fetchText?: FetchText;
}

/** `handle` is one request, one answer; no port needed. */
export interface Service extends Face {
  /** As `handle`, for callers on this machine: lists go on where they were asked for, whatever the public URL is. */
  readonly handleLocally: ServerExchange;
  readonly admin: Admin;
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves when the data file had to be given up; nothing is acknowledged any more, and `close` is due. */
  readonly lost: Promise<Error>;
  /** Rejects with ForeignOutboxError when others could read or change messages. */
  checkOutbox(): Promise<void>;
  /** What links in messages begin with, once the address is known. */
  setAddress(url: string): void;
  /** Starts to deliver what is due. */
  startScheduler(): void;
  /** Logs what was noticed while the service was opened, and from then on what happens to the data file. */
  startLog(options?: { readonly isAnnounced: boolean }): void;
  /** Starts to send events to webhooks. */
  startWebhooks(): void;
  /** Removes messages whose person is gone; how many. */
  readonly sweepMessages: () => Promise<number>;
  /** Ends the scheduler once nothing is due any more. */
  finishDue(): Promise<void>;
  /** Claims nothing more and lets transmissions end; `close` does so too. */
  stopDelivering(): Promise<void>;
  /** Whether `/readyz` says so; false as soon as the service drains. */
  setReady(isReady: boolean): void;
  /** Lets the delivery in hand finish and frees the data file. */
  close(): Promise<void>;
}

/** Links that do not exist, for each block of addresses. */
const UNKNOWN_LINKS: RateLimit = { requests: 60, periodSeconds: 60 };
/** Answers through public links, for each block of addresses: an office is one. */
const LINK_ANSWERS: RateLimit = { requests: 60, periodSeconds: 600 };
const ANSWER_WINDOW_SECONDS = 30 * 86_400;

/** Throws AlreadyServedError, StoreBusyError, StoreFileError. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { dataFile, clock, random, log, publicUrl, sender = NO_SENDER } = options;
  const wakeUp = createSignal();
  const eventNoted = createSignal();
  const state = { address: publicUrl ?? DEFAULT_ADDRESS, listening: null as string | null, isReady: true };
  const notices = createNotices((event) => logStoreEvent(log, dataFile, event));
  const isFile = (options.database ?? null) === null;
  const store = await openData({
    ...options,
    appUrl: () => state.address,
    onWebhookEvent: eventNoted.call,
    onEvent: (event) => {
      notices.add(event);
      if (event.kind === "recovered") wakeUp.call();
    },
  });
  // We own the file now, so a control file beside it was left by a killed server.
  if (isFile) await removeControlFile(dataFile);
  const failures = createFailureLog(log);
  const keepErasures = async (): Promise<unknown> =>
    isFile ? syncErasures(store, dataFile, random).catch(failures.add) : null;
  await keepErasures();
  const folder = options.outbox ?? path.join(path.dirname(path.resolve(dataFile)), "outbox");
  const mailContext = (settings: ProjectSettings, { name, accent }: Brand): MailContext => ({
    appUrl: state.address,
    sender: chooseSender({ ...settings, senderName: name ?? settings.senderName }, sender, state.address),
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
  const mail = await openMail(options, { store, context: contextOf, wake: wakeUp.call, onError: failures.add });
  const senders = mail === null ? [outbox] : [mail, { ...outbox, channels: ["sms"] as const }];
  const metrics = createDeliveryMetrics(store, () => (mail === null ? {} : { smtp: mail.health() }));
  const claimer = random.token(9);
  const onUnknown = options.onUnknown ?? "hold";
  const heartbeat = createHeartbeat({ store, clock, claimer, onUnknown });
  const scheduler = createScheduler({
    store,
    clock,
    claimer,
    heartbeat,
    senders,
    maxAgeSeconds: options.maxAgeSeconds ?? null,
    onUnknown,
    onOutcome: (due, result) => {
      if (result.kind === "sent") failures.end();
      metrics.count(due, result);
    },
    onOverdue: (held) => logOverdue(log, held, options.maxAgeSeconds ?? 0),
    onError: failures.add,
  });
  wakeUp.answer(scheduler.wake);
  const ownAddresses = (): string[] => [state.address, ...(state.listening === null ? [] : [state.listening])];
  const webhooks = createDispatcher({
    store,
    clock,
    random,
    log,
    own: ownAddresses,
    mayStart: heartbeat.isLeader,
    onError: failures.add,
  });
  eventNoted.answer(webhooks.wake);
  const pages = createPages({
    store,
    clock,
    publicUrl,
    random,
    answerWindowSeconds: options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS,
    senderName: sender.senderName,
    unknownLinks: createAddressLimit(UNKNOWN_LINKS, clock),
    linkAnswers: createAddressLimit(LINK_ANSWERS, clock),
    identify: async (authorization, address) => http.keys.open(authorization, addressBlock(address)),
    onError: failures.add,
  });
  const hooks = openHooks(options, store, metrics);
  const http = createHttpService({
    ...options,
    otherFaces: [
      ({ method, headers, body = "", from = "" }, target) =>
        pages.handle({ method, headers, from, ...target, body: async () => readBody(body) }),
      ({ method, headers, body = "" }, { path: asked }) =>
        asked.startsWith("/hooks/") ? hooks({ method, headers, path: asked, body: async () => readBody(body) }) : null,
    ],
    store,
    onScheduled: scheduler.wake,
    moreMetrics: async () => (await metrics.text()) + (await webhookMetrics(store, webhooks.attempts())),
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
    onSchedule: scheduler.wake,
    senders,
    appUrl: () => state.address,
    renderPreview: (survey, settings, brand) =>
      previewMail(survey, mailContext(settings, brand), random, unixSeconds(clock)),
    onReport: metrics.countReport,
    ownAddresses,
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
    admin,
    store,
    clock,
    lost: store.lost,
    checkOutbox: outbox.check,
    setAddress: (url) => {
      state.address = publicUrl ?? url;
      state.listening = url;
    },
    startScheduler: () => {
      scheduler.start();
      upkeep.start();
    },
    startLog: ({ isAnnounced } = { isAnnounced: false }) => notices.release(isAnnounced ? "created" : null),
    startWebhooks: webhooks.start,
    sweepMessages: scheduler.sweep,
    finishDue: scheduler.finish,
    stopDelivering: async () => void (await Promise.all([scheduler.stop(), webhooks.stop()])),
    setReady: (isReady) => {
      state.isReady = isReady;
    },
    close: async () => {
      await upkeep.stop();
      await scheduler.stop();
      await webhooks.stop();
      await mail?.close();
      await store.close();
      log.flush();
    },
  };
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

async function readBody(body: NonNullable<ServerRequest["body"]>): Promise<Uint8Array> {
  const whole = typeof body === "function" ? await body() : body;
  return typeof whole === "string" ? Buffer.from(whole) : whole;
}

/** Loaded only where mail is sent: few services do. */
async function openMail(
  { mail = null, clock, random, log }: ServiceOptions,
  given: Pick<MailDeliveryOptions, "store" | "context" | "wake" | "onError">,
): Promise<SmtpSender | null> {
  if (mail === null) return null;
  const { openMailDelivery } = await import("./mail-delivery.ts");
  return openMailDelivery({ ...mail, clock, random, log, ...given });
}

/** Holds events until `release`: before a server listens, only an error is worth a line. */
function createNotices(log: (event: StoreEvent) => void): {
  readonly add: (event: StoreEvent) => void;
  /** `known` is the kind of event that the user has been shown already. */
  readonly release: (known: StoreEvent["kind"] | null) => void;
} {
  const held: StoreEvent[] = [];
  const state = { isReleased: false };
  return {
    add: (event) => (state.isReleased ? log(event) : void held.push(event)),
    release: (known) => {
      state.isReleased = true;
      for (const event of held.splice(0)) if (event.kind !== known) log(event);
    },
  };
}

/** Something to be called that is not there yet. */
function createSignal(): { readonly call: () => void; readonly answer: (work: () => void) => void } {
  const answers: (() => void)[] = [];
  return {
    call: () => {
      for (const work of answers) work();
    },
    answer: (work) => void answers.push(work),
  };
}
