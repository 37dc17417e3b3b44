/**
 * `/u/<token>`: leaving by a button or a mail program's one click (RFC 8058), and coming back. A GET changes nothing.
 */
import { leaveDigest, mayReturnToDigest } from "../domain/delivery/digests.ts";
import {
  findErasedLink,
  findUnsubscribeLink,
  leaveByErasedLink,
  readLeaver,
  resubscribeByLink,
  unsubscribeByLink,
} from "../domain/answers/answers.ts";
import type { HttpResponse } from "../../contract/http.ts";
import type { Brand } from "../domain/projects/brand.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import { FALLBACK_LOCALE } from "../../contract/locales.ts";
import { maskEmail } from "../../contract/text/email.ts";
import { showPreview } from "./preview-page.ts";
import type { HtmlPage } from "./document.ts";
import {
  askToWait,
  isToken,
  languageOf,
  notAllowed,
  type PageHandler,
  type PageRequest,
  type PagesOptions,
  previewLocale,
  respond,
  respondUnknown,
  showProject,
  toPageBrand,
  pageWay,
} from "./page-request.ts";
import { leavingPage, leftPage, type LeavingView, returnedPage } from "./unsubscribe-page.ts";

export function createLeavingHandler(options: PagesOptions): PageHandler {
  const { store } = options;
  /** The wish of the form, carried out; the page that says so. */
  const change = async ({ view, project }: Found, token: string, rest: string): Promise<HtmlPage> => {
    if (project === null) return rest === "undo" ? returnedPage(view) : leftPage(view, true);
    if (view.isDigest === true) return changeDigest(view, project, token, rest);
    if (rest !== "undo") {
      const { mayReturn } = await store.write((tx) => unsubscribeByLink(tx, token), { project });
      return leftPage(view, mayReturn);
    }
    const isBack = await store.write((tx) => resubscribeByLink(tx, token), { project });
    return isBack ? returnedPage(view) : leftPage(view, false);
  };
  const changeDigest = async (view: LeavingView, project: number, token: string, rest: string): Promise<HtmlPage> => {
    const how = rest === "undo" ? "undo" : "leave";
    const isDone = await store.write((tx) => leaveDigest(tx, token, how), { project });
    return how === "undo" && isDone ? returnedPage(view) : leftPage(view, isDone);
  };
  return async (request, token, rest) => {
    const { isSecure } = pageWay(options, request);
    const { method } = request;
    const found = rest === "" || rest === "undo" ? await findView(options, request, token) : null;
    if (found === null) return (await answerErased(options, request, token, rest)) ?? respondUnknown(options, request);
    // A mail program's one click comes in any form, with or without a body, and is never turned away.
    if (method === "POST") {
      const seconds = rest === "undo" ? options.linkChanges.count(token) : 0;
      const page = seconds > 0 ? leftPage(found.view, true) : await change(found, token, rest);
      return askToWait(respond(page, request, isSecure), seconds);
    }
    if (method === "GET" || method === "HEAD") {
      const page = found.hasLeft ? leftPage(found.view, found.mayReturn) : leavingPage(found.view);
      return respond(page, request, isSecure);
    }
    return notAllowed(request, isSecure);
  };
}

/**
 * Mail that was sent before its person was erased can still be left by: it says what every such page says, in the
 * visitor's language, and offers no way back. Null for another link.
 */
async function answerErased(
  options: PagesOptions,
  request: PageRequest,
  token: string,
  rest: string,
): Promise<HttpResponse | null> {
  const { store, senderName } = options;
  const { base, host, isSecure } = pageWay(options, request);
  const found =
    !isToken(token) || (rest !== "" && rest !== "undo")
      ? null
      : await store.read(async (tx) => {
          const link = await findErasedLink(tx, token);
          if (link === null) return null;
          return { link, ...(await showProject(tx, link.project, {}, senderName)) };
        });
  if (found === null) return null;
  const { link, brand } = found;
  const action = `${base}/u/${token}`;
  const shown = { brand: toPageBrand(brand, base), sender: brand.name ?? host, address: null };
  const view = { locale: languageOf(request), ...shown, action };
  if (request.method === "POST") {
    if (rest === "") await leaveByErasedLink(store, link);
    return respond(leftPage(view, false), request, isSecure);
  }
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead ? respond(leavingPage(view), request, isSecure) : notAllowed(request, isSecure);
}

interface Found {
  readonly view: LeavingView;
  /** Null in a preview, which changes nothing. */
  readonly project: number | null;
  readonly hasLeft: boolean;
  /** The same link brings them back. */
  readonly mayReturn: boolean;
}

function findView(options: PagesOptions, request: PageRequest, token: string): Promise<Found | null> {
  const { base, host } = pageWay(options, request);
  const { store, senderName } = options;
  const preview = previewLocale(token, request.query);
  const toView = (
    view: Pick<LeavingView, "locale" | "isDigest" | "isSms">,
    brand: Brand,
    email: string | null,
  ): LeavingView => ({
    ...view,
    brand: toPageBrand(brand, base),
    sender: brand.name ?? host,
    address: email === null ? null : maskEmail(email),
    action: `${base}/u/${token}`,
  });
  return store.read(async (tx) => {
    if (preview !== null) {
      const { brand } = await showPreview(tx, senderName);
      return { view: toView({ locale: preview }, brand, null), project: null, hasLeft: false, mayReturn: true };
    }
    if (!isToken(token)) return null;
    const digest = await tx.digests.byToken(token);
    if (digest !== null) {
      const { brand } = await showProject(tx, digest.project, {}, senderName);
      const view = toView({ locale: FALLBACK_LOCALE, isDigest: true }, brand, digest.email);
      const hasLeft = digest.unsubscribedAt !== null;
      return { view, project: digest.project.id, hasLeft, mayReturn: mayReturnToDigest(tx, digest) };
    }
    const link = await findUnsubscribeLink(tx, token);
    if (link === null) return null;
    const { locale } = readSpecialProperties(link.properties);
    const { brand } = await showProject(tx, link.project, link.properties, senderName);
    const { email, ...leaver } = await readLeaver(tx, link);
    return {
      view: toView({ locale, isSms: link.channel === "sms" }, brand, email),
      project: link.project.id,
      ...leaver,
    };
  });
}
