import type { Client } from "../../../../client/client.ts";
import { AuthError, BadReplyError, UnknownOutcomeError } from "../../../../client/errors/call-errors.ts";
import { nameCall } from "../../../../client/errors/client-error.ts";
import { isJsonObject, type Json, parseJson } from "../../../../contract/json.ts";
import { KEY_PROJECT_HEADER, NEEDS_ADMIN, NEXT_PAGE_HEADER, OPERATIONS_PATH } from "../../../../contract/key-access.ts";
import type { Confirmation } from "../../../../service/domain/errors.ts";
import type { Admin } from "../../../../service/operations/index.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { EXIT } from "../../../exit-codes.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { type Deps, withClient } from "../../../kit/deps.ts";
import { writeNote } from "../../../kit/notes.ts";

/** Passes the name of the key's project to `work`. Before a change, mentions the place even with `--quiet`. */
export function withRemoteAdmin<Result>(
  deps: Deps,
  changes: boolean,
  work: (admin: Admin, project: string) => Promise<Result>,
): Promise<Result> {
  return withClient(deps, async (client) => {
    const project = await readKeyProject(client, deps.signal);
    const { streams, options } = deps;
    if (changes)
      await writeNote({ streams, options: { ...options, quiet: false } }, `project ${project} on ${client.baseUrl}`);
    return asCliError(() => work(createRemoteAdmin(client, deps.signal), project));
  });
}

/** Fails before anything is changed if the server doesn't support operations or the key can't call them. */
async function readKeyProject(client: Client, signal: AbortSignal): Promise<string> {
  const url = client.baseUrl + OPERATIONS_PATH;
  const { status, headers, text, failure } = await client.raw({ method: "GET", url, signal });
  if (status === 403 && text.includes(NEEDS_ADMIN))
    throw new AuthError(`${NEEDS_ADMIN} (surveyctl service key add --admin), or --data where the data is`, {
      call: nameCall("GET", url),
      status,
      details: null,
    });
  const project = headers[KEY_PROJECT_HEADER];
  if ([404, 405, 410].includes(status) || (failure === null && project === undefined))
    throw new DataFileError(
      "no_administration",
      "this server has no administration over HTTP; run the command where its data is",
      { exit: EXIT.refused },
    );
  if (failure !== null) throw failure;
  return decodeURIComponent(project ?? "");
}

function createRemoteAdmin(client: Client, signal: AbortSignal): Admin {
  const call = async ({ kind, ...input }: { readonly kind: string }): Promise<unknown> => {
    const { project = null } = input as { readonly project?: string | null };
    const body = JSON.stringify({ ...input, project: project ?? undefined });
    const url = `${client.baseUrl}${OPERATIONS_PATH}/${kind}`;
    const { status, headers, text, failure } = await client.raw({ method: "POST", url, body, signal });
    const result = parseJson(text) ?? null;
    if (failure !== null) throw (await readRefusal(status, result)) ?? failure;
    if (typeof result !== "object" || result === null) {
      const facts = { call: nameCall("POST", url), status, contentType: headers["content-type"] ?? null };
      throw new UnknownOutcomeError(
        new BadReplyError("the answer is not JSON", { ...facts, preview: text.slice(0, 80) }),
        null,
      );
    }
    // Only paged lists take a limit.
    return "limit" in input ? { rows: result, next: headers[NEXT_PAGE_HEADER] ?? null } : result;
  };
  return (async (given) => {
    try {
      return await call(given);
    } catch (error) {
      throw error instanceof UnknownOutcomeError
        ? error.advise("surveyctl service log shows whether it was; look there before you repeat it")
        : error;
    }
  }) as Admin;
}

/** The error that the operation would throw locally. Null if the reply isn't from our own server. */
async function readRefusal(status: number, body: Json): Promise<Error | null> {
  const { ConflictError, InvalidError, NotFoundError, UnconfirmedError } =
    await import("../../../../service/domain/errors.ts");
  if (!isJsonObject(body) || typeof body["message"] !== "string") return null;
  const { message, errors, confirm } = body as { message: string; errors?: Record<string, string[]>; confirm?: Json };
  if (status === 409 && isJsonObject(confirm)) return new UnconfirmedError(confirm as unknown as Confirmation);
  if (status === 404) return new NotFoundError(message);
  if (status !== 409 && status !== 422) return null;
  return new (status === 409 ? ConflictError : InvalidError)(errors ?? {}, message);
}
