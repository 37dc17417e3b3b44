/** Paths whose URL contains a secret: pages, and hooks for providers. */
import type { HttpResponse } from "../contract/http.ts";
import type { KeyRing } from "./http/authentication.ts";
import type { PathHandler, PathRequest } from "./http/create-http-service.ts";
import { createWaitLimit, type RateLimit } from "./http/rate-limit.ts";
import { createPages } from "./page/create-pages.ts";
import type { DeliveryMetrics } from "./metrics/delivery-metrics.ts";
import type { SenderSettings } from "./delivery/message/sender.ts";
import type { Store } from "./domain/ports.ts";
import type { ServiceOptions } from "./service-options.ts";

const UNKNOWN_LINKS: RateLimit = { requests: 60, periodSeconds: 60 };
/** Public link answers per address: an office or a conference may share one. */
const ADDRESS_ANSWERS: RateLimit = { requests: 120, periodSeconds: 600 };
const LINK_ANSWERS: RateLimit = { requests: 600, periodSeconds: 600 };
/** Each change sends a webhook event. */
const LINK_CHANGES: RateLimit = { requests: 20, periodSeconds: 600 };
/** The script sends a slowly typed comment with almost every key. */
const SCRIPT_CHANGES: RateLimit = { requests: 300, periodSeconds: 600 };
const ANSWER_WINDOW_SECONDS = 30 * 86_400;

export interface PathsOptions {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly appUrl: () => string;
  /** Default sender. */
  readonly sender: SenderSettings;
  readonly deliveries: DeliveryMetrics;
  /** A text came in, so a reply may be due. */
  readonly onText: () => void;
  readonly onError: (error: unknown) => void;
}

/** In the order in which they are tried. */
export function openPaths(paths: PathsOptions): readonly PathHandler[] {
  const { options, store, sender } = paths;
  const makeShare = async () =>
    (await import("./share/share-handler.ts")).createShareHandler({ ...options, store, sender });
  return [
    { name: "page", handle: openPages(paths).handle },
    lazyHandler("share", "/d/", makeShare),
    lazyHandler("hook", "/hooks/sms/", () => openSmsHook(paths)),
    lazyHandler("hook", "/hooks/", () => openBounceHooks(paths)),
  ];
}

function openPages({ options, store, sender, keys, onError }: PathsOptions) {
  const { clock, random, publicUrl } = options;
  return createPages({
    store,
    clock,
    random,
    publicUrl,
    senderName: sender.senderName,
    answerWindowSeconds: options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS,
    unknownLinks: createWaitLimit(UNKNOWN_LINKS, clock),
    addressAnswers: createWaitLimit(ADDRESS_ANSWERS, clock),
    linkAnswers: createWaitLimit(LINK_ANSWERS, clock),
    linkChanges: createWaitLimit(LINK_CHANGES, clock),
    scriptChanges: createWaitLimit(SCRIPT_CHANGES, clock),
    identify: keys.open,
    onError,
  });
}

async function openSmsHook({ options, store, appUrl, deliveries, onText }: PathsOptions): Promise<Handle> {
  const { createSmsHook } = await import("./delivery/sms/sms-hook.ts");
  return createSmsHook({
    store,
    clock: options.clock,
    log: options.log,
    appUrl,
    windowSeconds: options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS,
    format: options.sms?.gateway.format ?? null,
    countries: options.sms?.limits.countries ?? null,
    metrics: deliveries,
    onText,
  }).handle;
}

async function openBounceHooks({ options, store, deliveries }: PathsOptions): Promise<Handle> {
  const [{ createHooks }, { fetchText }] = await Promise.all([
    import("./delivery/bounce/hooks.ts"),
    import("./delivery/bounce/sns.ts"),
  ]);
  return createHooks({
    store,
    fetchText: options.fetchText ?? fetchText,
    onReport: deliveries.countReport,
    onRefused: deliveries.countRefusal,
  }).handle;
}

type Handle = (request: PathRequest) => Promise<HttpResponse | null> | null;

/** Creates the handler, and loads what it needs, on the first request below its path. */
function lazyHandler(name: string, path: string, make: () => Promise<Handle>): PathHandler {
  let made: Promise<Handle> | null = null;
  const answer = async (request: PathRequest): Promise<HttpResponse | null> => (await (made ??= make()))(request);
  return { name, handle: (request) => (request.path.startsWith(path) ? answer(request) : null) };
}
