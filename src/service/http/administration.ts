import type { HttpResponse } from "../../contract/http.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import {
  KEY_ACCESS_HEADER,
  KEY_PROJECT_HEADER,
  NEEDS_ADMIN,
  NEXT_PAGE_HEADER,
  OPERATIONS_PATH,
} from "../../contract/key-access.ts";
import type { OperationSchemas } from "../../contract/openapi.ts";
import { ConflictError, DomainError, InvalidError, NotFoundError, UnconfirmedError } from "../domain/errors.ts";
import type { Project } from "../domain/inputs.ts";
import type { Actor } from "../domain/ports.ts";
import type { Caller } from "./authentication.ts";
import { envelope, HttpError, jsonReply } from "./replies.ts";

export interface Administration {
  readonly list: () => readonly OperationSchemas[];
  readonly has: (name: string) => boolean;
  readonly call: (name: string, project: Project, actor: Actor, input: JsonObject) => Promise<unknown> | null;
}

export interface OperationRequest {
  readonly method: string;
  readonly name: string;
  readonly caller: Caller;
  readonly input: () => Promise<JsonObject>;
}

/** The key isn't allowed to do this. Such requests are counted, and `serve` logs them. */
export class ForbiddenError extends HttpError {
  constructor(reason: string) {
    super(403, `Forbidden: ${reason}`);
  }
}

/** The operation's name in a path, empty for the list; null for other paths. */
export function findOperation(path: string): string | null {
  const plain = path.replace(/\.json$/, "");
  if (plain === OPERATIONS_PATH) return "";
  return plain.startsWith(`${OPERATIONS_PATH}/`) ? plain.slice(OPERATIONS_PATH.length + 1) : null;
}

export async function administer(
  request: OperationRequest,
  open: () => Promise<Administration>,
): Promise<HttpResponse> {
  const { method, name, caller } = request;
  const { project, access } = caller;
  if (access !== "admin") throw new ForbiddenError(NEEDS_ADMIN);
  const methods = name === "" ? ["GET", "HEAD"] : ["POST"];
  if (!methods.includes(method)) throw new HttpError(405, undefined, { allow: methods.join(", ") });
  const administration = await open();
  const reply = name === "" ? jsonReply(200, administration.list()) : await callByName(administration, request);
  const headers = { [KEY_ACCESS_HEADER]: access, [KEY_PROJECT_HEADER]: encodeURIComponent(project.name) };
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

async function callByName(administration: Administration, { name, caller, input: read }: OperationRequest) {
  const { project: named, ...input } = await read();
  if (named !== undefined && named !== null && named !== caller.project.name)
    throw new ForbiddenError(`this key is for project ${caller.project.name}`);
  try {
    const result = await administration.call(name, caller.project, caller.actor, input);
    if (result === null) return envelope(404, `there is no operation ${name}`);
    return toReply(result);
  } catch (error) {
    if (error instanceof DomainError) return refusal(error);
    throw error;
  }
}

/** If the result is a page, the body contains its rows, in the same form as the command line prints. */
function toReply(result: unknown): HttpResponse {
  if (!isJsonObject(result) || !("rows" in result) || !("next" in result)) return jsonReply(200, result);
  const { rows, next } = result;
  return jsonReply(200, rows, typeof next === "string" ? { [NEXT_PAGE_HEADER]: next } : {});
}

function refusal(error: DomainError): HttpResponse {
  const { message } = error;
  if (error instanceof UnconfirmedError) return envelope(409, message, { confirm: error.confirm });
  if (error instanceof NotFoundError) return envelope(404, message);
  if (!(error instanceof InvalidError)) return envelope(422, message);
  return envelope(error instanceof ConflictError ? 409 : 422, message, { errors: error.errors });
}
