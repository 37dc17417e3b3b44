/** `/u/<token>`: unsubscribe by button or one click (RFC 8058), and undo. GET changes nothing. */
import { FALLBACK_LOCALE } from "../../contract/locales.ts";
import { maskEmail } from "../../contract/text/email.ts";
import { leaveByErasedLink, readLeaver, resubscribeByLink, unsubscribeByLink } from "../domain/answers/answers.ts";
import { leaveDigest, mayReturnToDigest } from "../domain/delivery/digests.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import {
  askToWait,
  isToken,
  languageOf,
  notAllowed,
  type PageHandler,
  type PageRequest,
  type PagesOptions,
  previewLocale,
  respondUnknown,
  showProject,
} from "./page-request.ts";
import { type PageBrand, pageResponse } from "./document.ts";
import { showPreview } from "./preview-page.ts";
import { leavingPage, leftPage, type LeavingView, returnedPage } from "./unsubscribe-page.ts";

interface Leaving {
  readonly view: LeavingView;
  readonly hasLeft: boolean;
  readonly mayReturn: boolean;
  /** Resolves with whether undo is possible. */
  readonly leave: () => Promise<boolean>;
  /** Resolves with whether it worked. */
  readonly comeBack: () => Promise<boolean>;
}

export function createLeavingHandler(options: PagesOptions): PageHandler {
  return async (request, token, rest) => {
    const found = rest === "" || rest === "undo" ? await findLeaving(options, request, token) : null;
    if (found === null) return respondUnknown(options, request);
    const { view, hasLeft, mayReturn, leave, comeBack } = found;
    if (request.method === "GET" || request.method === "HEAD")
      return pageResponse(hasLeft ? leftPage(view, mayReturn) : leavingPage(view));
    if (request.method !== "POST") return notAllowed(request);
    // One-click requests come in any form, with or without a body.
    if (rest === "") return pageResponse(leftPage(view, await leave()));
    const seconds = options.linkChanges.count(token);
    const isBack = seconds === 0 && (await comeBack());
    return askToWait(pageResponse(isBack ? returnedPage(view) : leftPage(view, seconds > 0)), seconds);
  };
}

type ViewKind = Pick<LeavingView, "locale" | "isDigest" | "isSms">;

function createView(options: PagesOptions, request: PageRequest, token: string) {
  const { base, publicUrl } = options;
  return (kind: ViewKind, brand: PageBrand, email: string | null): LeavingView => ({
    ...kind,
    brand,
    sender: brand.name ?? new URL(publicUrl ?? request.origin).hostname,
    address: email === null ? null : maskEmail(email),
    action: `${base}/u/${token}`,
  });
}

function findLeaving(options: PagesOptions, request: PageRequest, token: string): Promise<Leaving | null> {
  const { store } = options;
  const toView = createView(options, request, token);
  const preview = previewLocale(token, request.query);
  return store.read(async (tx) => {
    if (preview !== null) {
      const { brand } = await showPreview(tx, options);
      return {
        view: toView({ locale: preview }, brand, null),
        hasLeft: false,
        mayReturn: true,
        leave: async () => true,
        comeBack: async () => true,
      };
    }
    if (!isToken(token)) return null;
    const digest = await tx.digests.byToken(token);
    if (digest !== null) {
      const { project, email, unsubscribedAt } = digest;
      const { brand } = await showProject(tx, options, project);
      const change = (how: "leave" | "undo"): Promise<boolean> =>
        store.write((writing) => leaveDigest(writing, token, how), { project: project.id });
      return {
        view: toView({ locale: FALLBACK_LOCALE, isDigest: true }, brand, email),
        hasLeft: unsubscribedAt !== null,
        mayReturn: mayReturnToDigest(tx, digest),
        leave: () => change("leave"),
        comeBack: () => change("undo"),
      };
    }
    const link = await tx.requests.byUnsubscribeToken(token);
    if (link !== null) {
      const only = { project: link.project.id };
      const { locale } = readSpecialProperties(link.properties);
      const { brand } = await showProject(tx, options, link.project, link.properties);
      const { email, ...leaver } = await readLeaver(tx, link);
      return {
        view: toView({ locale, isSms: link.channel === "sms" }, brand, email),
        ...leaver,
        leave: () => store.write((writing) => unsubscribeByLink(writing, token), only),
        comeBack: () => store.write((writing) => resubscribeByLink(writing, token), only),
      };
    }
    // Links in mail sent before an erasure still work.
    const erased = await tx.erasures.byUnsubscribeToken(token);
    if (erased === null) return null;
    const { brand } = await showProject(tx, options, erased.project);
    const leave = (): Promise<boolean> => leaveByErasedLink(store, erased).then(() => false);
    return {
      view: toView({ locale: languageOf(request) }, brand, null),
      hasLeft: false,
      mayReturn: false,
      leave,
      comeBack: async () => false,
    };
  });
}
