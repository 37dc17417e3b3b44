import type { HttpRequest } from "../../contract/http.ts";
import type { ClientError } from "../errors/client-error.ts";
import { RedirectError } from "../errors/call-errors.ts";
import type { AnswerText } from "../answer/reply.ts";

const FOLLOWED = new Set([301, 302, 303, 307, 308]);
const READS = new Set(["GET", "HEAD"]);
const HOPS_MAX = 10;

/**
 * Returns the redirected request; null for a redirected write, or if it leaves the origin, because the key must not.
 * Throws `RedirectError` for a loop; `trail` holds the URLs visited before.
 */
export function followRedirect(
  request: HttpRequest,
  { error, answer }: { readonly error: ClientError; readonly answer: AnswerText | null },
  trail: readonly string[],
): HttpRequest | null {
  if (!(error instanceof RedirectError) || answer === null || !READS.has(request.method)) return null;
  const target = FOLLOWED.has(answer.status) ? within(request.url, answer.headers["location"]) : null;
  if (target === null) return null;
  if (target !== request.url && !trail.includes(target) && trail.length < HOPS_MAX) return { ...request, url: target };
  const { call, location } = error;
  throw new RedirectError(`the redirects (${answer.status}) do not end`, {
    call,
    status: answer.status,
    details: null,
    location,
  });
}

/** Absolute URL of a redirect within the same origin, or null. */
function within(url: string, location: string | undefined): string | null {
  if (location === undefined || !URL.canParse(location, url)) return null;
  const target = new URL(location, url);
  target.hash = "";
  const isWithin = target.origin === new URL(url).origin && target.username === "" && target.password === "";
  return isWithin ? target.href : null;
}
