/** Modules that most servers never need, loaded on first use. */
import type { HttpResponse } from "../../contract/http.ts";
import type { PathHandler, PathRequest } from "../http/create-http-service.ts";

export const LAZY = {
  mail: () => import("./mail.ts"),
  sms: () => import("./sms.ts"),
  digest: () => import("../digest/digest-mail.ts"),
  digestTest: () => import("../digest/digest-test.ts"),
  bounceHook: () => import("../delivery/bounce/hooks.ts"),
  share: () => import("../share/share-handler.ts"),
  sns: () => import("../delivery/bounce/sns.ts"),
};

type Handle = (request: PathRequest) => Promise<HttpResponse | null> | null;

/** Creates the handler on the first request below its path. */
export function lazyHandler(name: string, path: string, make: () => Promise<Handle>): PathHandler {
  const made: { handle: Promise<Handle> | null } = { handle: null };
  const answer = async (request: PathRequest): Promise<HttpResponse | null> =>
    (await (made.handle ??= make()))(request);
  return { name, handle: (request) => (request.path.startsWith(path) ? answer(request) : null) };
}
