/** Modules that most services do without: each is loaded when it is needed first. */
import type { HttpResponse } from "../../contract/http.ts";
import type { PathHandler, PathRequest } from "../http/create-http-service.ts";

export const LAZY = {
  /** The sender of mail, loaded where mail is sent. */
  mail: () => import("./mail.ts"),
  /** The sender of texts, loaded where texts are sent, and when the first one comes in. */
  sms: () => import("./sms.ts"),
  /** When the first digest is due. */
  digest: () => import("../digest/digest-mail.ts"),
  digestTest: () => import("../digest/digest-test.ts"),
  /** When the first report comes in. */
  bounceHook: () => import("../delivery/bounce/hooks.ts"),
  /** When somebody looks at the first page for colleagues. */
  share: () => import("../share/share-handler.ts"),
  sns: () => import("../delivery/bounce/sns.ts"),
};

type Handle = (request: PathRequest) => Promise<HttpResponse | null> | null;

/** A handler that is made for the first request below its path. */
export function lazyHandler(name: string, path: string, make: () => Promise<Handle>): PathHandler {
  const made: { handle: Promise<Handle> | null } = { handle: null };
  const answer = async (request: PathRequest): Promise<HttpResponse | null> =>
    (await (made.handle ??= make()))(request);
  return { name, handle: (request) => (request.path.startsWith(path) ? answer(request) : null) };
}
