/** Paths whose URL contains a secret: pages, and hooks for providers. */
import { createWaitLimit, type RateLimit } from "../http/rate-limit.ts";
import type { KeyRing } from "../http/authentication.ts";
import { createPages } from "../page/create-pages.ts";
import type { Base } from "./base.ts";
import { LAZY, lazyHandler } from "./lazy.ts";
import type { Part } from "./part.ts";

const UNKNOWN_LINKS: RateLimit = { requests: 60, periodSeconds: 60 };
/** Public link answers per address: an office or a conference may share one. */
const ADDRESS_ANSWERS: RateLimit = { requests: 120, periodSeconds: 600 };
const LINK_ANSWERS: RateLimit = { requests: 600, periodSeconds: 600 };
/** Each change sends a webhook event. */
const LINK_CHANGES: RateLimit = { requests: 20, periodSeconds: 600 };
/** The script sends a slowly typed comment with almost every key. */
const SCRIPT_CHANGES: RateLimit = { requests: 300, periodSeconds: 600 };
const ANSWER_WINDOW_SECONDS = 30 * 86_400;

function answerWindow({ options }: Base): number {
  return options.answerWindowSeconds ?? ANSWER_WINDOW_SECONDS;
}

export function createPagesPart(base: Base, { open }: KeyRing): Part {
  const { options, store, clock, random, sender, failures } = base;
  const { handle } = createPages({
    store,
    clock,
    random,
    publicUrl: options.publicUrl,
    senderName: sender.senderName,
    answerWindowSeconds: answerWindow(base),
    unknownLinks: createWaitLimit(UNKNOWN_LINKS, clock),
    addressAnswers: createWaitLimit(ADDRESS_ANSWERS, clock),
    linkAnswers: createWaitLimit(LINK_ANSWERS, clock),
    linkChanges: createWaitLimit(LINK_CHANGES, clock),
    scriptChanges: createWaitLimit(SCRIPT_CHANGES, clock),
    identify: open,
    onError: failures.add,
  });
  return { handler: { name: "page", handle } };
}

export function createSmsHookPart(base: Base): Part {
  const { options, store, clock, log, address, deliveries, signals } = base;
  const make = async () =>
    (await LAZY.sms()).openSmsHook({
      store,
      clock,
      appUrl: address.url,
      windowSeconds: answerWindow(base),
      log,
      format: options.sms?.gateway.format ?? null,
      countries: options.sms?.limits.countries ?? null,
      metrics: deliveries,
      onText: signals.due.call,
    }).handle;
  return { handler: lazyHandler("hook", "/hooks/sms/", make) };
}

export function createSharePart(base: Base): Part {
  return { handler: lazyHandler("share", "/d/", async () => (await LAZY.share()).createShareHandler(base)) };
}

/** Bounces and complaints; after the hook for texts. */
export function createBounceHookPart({ options, store, deliveries }: Base): Part {
  const make = async () => {
    const [{ createHooks }, { fetchText }] = await Promise.all([LAZY.bounceHook(), LAZY.sns()]);
    return createHooks({
      store,
      fetchText: options.fetchText ?? fetchText,
      onReport: deliveries.countReport,
      onRefused: deliveries.countRefusal,
    }).handle;
  };
  return { handler: lazyHandler("hook", "/hooks/", make) };
}
