import type { HttpResponse, PathRequest } from "../contract/http.ts";
import type { KeyRing } from "./http/authentication.ts";
import type { PathHandler } from "./http/http-service.ts";
import { type RateLimit, RateLimiter } from "./http/rate-limit.ts";
import { Pages } from "./page/pages.ts";
import type { DeliveryMetrics } from "./metrics/delivery-metrics.ts";
import { NO_SENDER } from "./delivery/message/sender.ts";
import type { Store } from "./domain/ports.ts";
import type { ServiceOptions } from "./service-options.ts";

const UNKNOWN_LINKS: RateLimit = { requests: 60, periodSeconds: 60 };
/** Answers to public links per address, which may be shared by an office or a conference. */
const ADDRESS_ANSWERS: RateLimit = { requests: 120, periodSeconds: 600 };
const LINK_ANSWERS: RateLimit = { requests: 600, periodSeconds: 600 };
/** Each change sends a webhook event. */
const LINK_CHANGES: RateLimit = { requests: 20, periodSeconds: 600 };
/** The script sends a slowly typed comment after almost every key. */
const SCRIPT_CHANGES: RateLimit = { requests: 300, periodSeconds: 600 };
const ANSWER_WINDOW_SECONDS = 30 * 86_400;

export interface PathsOptions {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly appUrl: () => string;
  readonly deliveries: DeliveryMetrics;
  readonly onText: () => void;
  readonly onError: (error: unknown) => void;
}

export function openPaths(paths: PathsOptions): readonly PathHandler[] {
  const pages = openPages(paths);
  return [
    { name: "page", handle: (request) => pages.handle(request) },
    lazyHandler("share", "/d/", () => openSharePage(paths)),
    lazyHandler("hook", "/hooks/sms/", () => openSmsHook(paths)),
    lazyHandler("hook", "/hooks/bounce/", () => openBounceHooks(paths)),
  ];
}

function openPages({ options, store, keys, onError }: PathsOptions): Pages {
  const { clock, random, publicUrl, sender = NO_SENDER } = options;
  return new Pages({
    store,
    clock,
    random,
    publicUrl,
    senderName: sender.senderName,
    answerWindowSeconds: options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS,
    unknownLinks: new RateLimiter(UNKNOWN_LINKS, clock),
    addressAnswers: new RateLimiter(ADDRESS_ANSWERS, clock),
    linkAnswers: new RateLimiter(LINK_ANSWERS, clock),
    linkChanges: new RateLimiter(LINK_CHANGES, clock),
    scriptChanges: new RateLimiter(SCRIPT_CHANGES, clock),
    findProject: async (authorization, address) => (await keys.find(authorization, address))?.project ?? null,
    onError,
  });
}

async function openSharePage({ options, store }: PathsOptions): Promise<Handler> {
  const { SharePage } = await import("./share/share-page.ts");
  return new SharePage({ ...options, store, sender: options.sender ?? NO_SENDER });
}

async function openSmsHook({ options, store, appUrl, deliveries, onText }: PathsOptions): Promise<Handler> {
  const { SmsHook } = await import("./delivery/sms/sms-hook.ts");
  return new SmsHook({
    store,
    clock: options.clock,
    log: options.log,
    appUrl,
    windowSeconds: options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS,
    format: options.sms?.gateway.format ?? null,
    countries: options.sms?.limits.countries ?? null,
    metrics: deliveries,
    onText,
  });
}

async function openBounceHooks({ options, store, deliveries }: PathsOptions): Promise<Handler> {
  const { BounceHooks } = await import("./delivery/bounce/hooks.ts");
  return new BounceHooks({ ...options, store, metrics: deliveries });
}

interface Handler {
  handle(request: PathRequest): Promise<HttpResponse | null>;
}

function lazyHandler(name: string, path: string, open: () => Promise<Handler>): PathHandler {
  let opened: Promise<Handler> | null = null;
  const answer = async (request: PathRequest): Promise<HttpResponse | null> =>
    (await (opened ??= open())).handle(request);
  return { name, handle: (request) => (request.path.startsWith(path) ? answer(request) : null) };
}
