import type { HttpRequest } from "../../contract/http.ts";
import type { ClientError } from "../errors/client-error.ts";
import { RedirectError } from "../errors/call-errors.ts";
import type { AnswerText } from "../answer/reply.ts";

const FOLLOWED = new Set([301, 302, 303, 307, 308]);
const READS = new Set(["GET", "HEAD"]);
const HOPS_MAX = 10;

/**
 * Null for a redirected write, and for a redirect to another origin, which must not see the key. Throws `RedirectError`
 * for a loop; `trail` has the URLs visited before.
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

function within(url: string, location: string | undefined): string | null {
  if (location === undefined || !URL.canParse(location, url)) return null;
  const target = new URL(location, url);
  target.hash = "";
  const isWithin = target.origin === new URL(url).origin && target.username === "" && target.password === "";
  return isWithin ? target.href : null;
}
