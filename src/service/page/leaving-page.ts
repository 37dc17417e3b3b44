/** `/u/<token>`: unsubscribe by button or one click (RFC 8058), and undo. GET changes nothing. */
import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import { FALLBACK_LOCALE, type Locale } from "../../contract/locales.ts";
import { maskAddress } from "../../contract/text/email.ts";
import { leaveByErasedLink, readLeaver, resubscribeByLink, unsubscribeByLink } from "../domain/answers/answers.ts";
import { leaveDigest, mayReturnToDigest } from "../domain/delivery/digests.ts";
import type { Transaction } from "../domain/ports.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import {
  askToWait,
  byMethod,
  isToken,
  type PagesOptions,
  previewLocale,
  readLanguage,
  respondUnknown,
  showProject,
} from "./page-request.ts";
import { type PageBrand, pageResponse } from "./document.ts";
import { showPreview } from "./preview-page.ts";
import { leavingPage, leftPage, type LeavingView, returnedPage } from "./leaving-view.ts";

interface Leaving {
  readonly view: LeavingView;
  readonly hasLeft: boolean;
  readonly mayReturn: boolean;
  readonly leave: () => Promise<boolean>;
  readonly comeBack: () => Promise<boolean>;
}

export async function handleLeaving(
  options: PagesOptions,
  request: PathRequest,
  token: string,
  rest: string,
): Promise<HttpResponse> {
  const found = rest === "" || rest === "undo" ? await findLeaving(options, request, token) : null;
  if (found === null) return respondUnknown(options, request);
  const { view, hasLeft, mayReturn, leave, comeBack } = found;
  const show = async (): Promise<HttpResponse> => pageResponse(hasLeft ? leftPage(view, mayReturn) : leavingPage(view));
  return byMethod(request, show, async () => {
    // One-click requests come with and without a body, so the body is ignored.
    if (rest === "") return pageResponse(leftPage(view, await leave()));
    const seconds = options.linkChanges.count(token);
    const isBack = seconds === 0 && (await comeBack());
    return askToWait(pageResponse(isBack ? returnedPage(view) : leftPage(view, seconds > 0)), seconds);
  });
}

interface Link {
  readonly options: PagesOptions;
  readonly request: PathRequest;
  readonly token: string;
}

function findLeaving(options: PagesOptions, request: PathRequest, token: string): Promise<Leaving | null> {
  const link: Link = { options, request, token };
  const preview = previewLocale(token, request.query);
  return options.store.read(async (tx) => {
    if (preview !== null) return showSample(tx, link, preview);
    if (!isToken(token)) return null;
    return (await findDigest(tx, link)) ?? (await findSurvey(tx, link)) ?? findErased(tx, link);
  });
}

function toView(
  { options, request, token }: Link,
  kind: Pick<LeavingView, "locale" | "isDigest" | "isSms">,
  brand: PageBrand,
  address: string | null,
): LeavingView {
  return {
    ...kind,
    brand,
    sender: brand.name ?? new URL(options.publicUrl ?? request.origin).hostname,
    address: address === null ? null : maskAddress(address),
    action: `${options.base}/u/${token}`,
  };
}

async function showSample(tx: Transaction, link: Link, locale: Locale): Promise<Leaving> {
  const { brand } = await showPreview(tx, link.options);
  const view = toView(link, { locale }, brand, "ada@example.com");
  return { view, hasLeft: false, mayReturn: true, leave: async () => true, comeBack: async () => true };
}

async function findDigest(tx: Transaction, link: Link): Promise<Leaving | null> {
  const { options, token } = link;
  const digest = await tx.digests.byToken(token);
  if (digest === null) return null;
  const { project, email, unsubscribedAt } = digest;
  const { brand } = await showProject(tx, options, project);
  const change = (how: "leave" | "undo"): Promise<boolean> =>
    options.store.write((writing) => leaveDigest(writing, token, how), { project: project.id });
  return {
    view: toView(link, { locale: FALLBACK_LOCALE, isDigest: true }, brand, email),
    hasLeft: unsubscribedAt !== null,
    mayReturn: mayReturnToDigest(tx, digest),
    leave: () => change("leave"),
    comeBack: () => change("undo"),
  };
}

async function findSurvey(tx: Transaction, link: Link): Promise<Leaving | null> {
  const { options, token } = link;
  const survey = await tx.requests.byUnsubscribeToken(token);
  if (survey === null) return null;
  const only = { project: survey.project.id };
  const { locale } = readSpecialProperties(survey.properties);
  const { brand } = await showProject(tx, options, survey.project, survey.properties);
  const { address, ...leaver } = await readLeaver(tx, survey);
  return {
    view: toView(link, { locale, isSms: survey.channel === "sms" }, brand, address),
    ...leaver,
    leave: () => options.store.write((writing) => unsubscribeByLink(writing, token), only),
    comeBack: () => options.store.write((writing) => resubscribeByLink(writing, token), only),
  };
}

/** Links in messages sent before an erasure still work. */
async function findErased(tx: Transaction, link: Link): Promise<Leaving | null> {
  const { options, request, token } = link;
  const erased = await tx.erasures.byUnsubscribeToken(token);
  if (erased === null) return null;
  const { brand } = await showProject(tx, options, erased.project);
  return {
    view: toView(link, { locale: readLanguage(request) }, brand, null),
    hasLeft: false,
    mayReturn: false,
    leave: () => leaveByErasedLink(options.store, erased).then(() => false),
    comeBack: async () => false,
  };
}
