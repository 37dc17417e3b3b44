/** Both ends of the control channel. Each proves that it knows the secret, which itself is never sent. */
import { createHmac, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import type { Exchange, HttpResponse } from "../../contract/http.ts";
import { type Clock, inTime } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { wordsOfRefusal } from "../../runtime/files/system-words.ts";
import { UnavailableError } from "../domain/errors.ts";
import { type Admin, AdminError, type AdminKind, type AdminResults, COMMAND, type CommandOf } from "./commands.ts";
import type { ControlRecord } from "./control-file.ts";
import { readText } from "./loopback-exchange.ts";

/** Where an answer carries its proof. */
const PROOF_HEADER = "x-surveyctl-proof";

/** `Proof <nonce> <code>`: the caller's header, for this body alone. */
export function proveRequest(secret: string, nonce: string, body: string): string {
  return `Proof ${nonce} ${codeOf(secret, `request\n${nonce}\n${body}`)}`;
}

/** The nonce of a request that was made with the secret; null for any other. */
function checkRequest(secret: string, authorization: string | undefined, body: string): string | null {
  const nonce = /^Proof (\S+) \S+$/.exec(authorization ?? "")?.[1];
  if (nonce === undefined || !isEqual(authorization ?? "", proveRequest(secret, nonce, body))) return null;
  return nonce;
}

/** The answer to the request with this nonce. */
function proveAnswer(secret: string, nonce: string, status: number, body: string): string {
  return codeOf(secret, `answer\n${nonce}\n${status}\n${body}`);
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function codeOf(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

const CONTROL_PATH = "/control";

/**
 * Answers 401 without proof of the secret, 400 what is no command, 422 what cannot be done as asked, 503 what a disk or a
 * database keeps from being done now, 500 faults. All but the first carry the server's own proof.
 */
export function createControlExchange(secret: string, admin: Admin, service: Exchange): Exchange {
  return async (request) => {
    if (!request.url.endsWith(CONTROL_PATH) || request.method !== "POST") return service(request);
    const body = Buffer.from(request.body ?? "").toString("utf8");
    const nonce = checkRequest(secret, request.headers.authorization, body);
    if (nonce === null) return reply(401, { error: "not the secret of this service" });
    const answer = await carryOut(admin, body);
    const proof = proveAnswer(secret, nonce, answer.status, answer.body);
    return { ...answer, headers: { ...answer.headers, [PROOF_HEADER]: proof } };
  };
}

async function carryOut(admin: Admin, body: string): Promise<Answer> {
  try {
    const command = v.safeParse(COMMAND, parseJson(body));
    if (!command.success)
      return reply(400, { error: "the running service does not know this command; is it another version?" });
    return reply(200, { result: await admin(command.output) });
  } catch (error) {
    if (error instanceof AdminError) return reply(422, { error: error.message });
    const trouble = troubleOf(error);
    if (trouble !== null) return reply(503, { error: trouble });
    return reply(500, { error: error instanceof Error ? error.message : "unknown" });
  }
}

/** Of the data, or of a file beside it, in words; null for a fault of ours. */
function troubleOf(error: unknown): string | null {
  if (error instanceof UnavailableError) return error.message;
  if (!(error instanceof Error)) return null;
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall === undefined ? null : `${path ?? syscall}: ${wordsOfRefusal(error)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Answer = HttpResponse & { readonly body: string };

function reply(status: number, value: unknown): Answer {
  return { status, headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(value) };
}

/** The server that a control file names does not answer: it has ended, or is about to. */
export class ControlLostError extends Error {
  override readonly name = "ControlLostError";
}

/** The server's process lives and does not answer: it is stopped, or cannot keep up. */
export class ServerHangsError extends Error {
  override readonly name = "ServerHangsError";
}

/** Sooner than those who check a service give up. */
const PING_MS = 4000;

/** Asks the server for a sign of life. Throws ControlLostError, and ServerHangsError after 4 seconds. */
export async function pingServer(admin: Admin, { address, pid }: ControlRecord, clock: Clock): Promise<void> {
  const isAnswered = await inTime(
    clock,
    PING_MS,
    admin({ kind: "ping" }).then(() => true),
    false,
  );
  if (isAnswered) return;
  throw new ServerHangsError(`the service at ${address} (process ${pid}) does not answer within ${PING_MS / 1000} s`);
}

/**
 * The commands, carried out by a running server. Throws AdminError, UnavailableError, and ControlLostError if no process
 * that knows the secret answers; another process that answers learns neither the secret nor, if the first command is a ping, anything else.
 */
export function createControlClient({ control, secret }: ControlRecord, exchange: Exchange, random: Random): Admin {
  return async <Kind extends AdminKind>(command: CommandOf<Kind>): Promise<AdminResults[Kind]> => {
    const body = JSON.stringify(command);
    const nonce = random.token(NONCE_BYTES);
    const { status, text, proof } = await post(exchange, control, proveRequest(secret, nonce, body), body);
    if (!isEqual(proof, proveAnswer(secret, nonce, status, text)))
      throw new ControlLostError(`${control} is not the service that left its address`);
    const answer = parseAnswer(text);
    if (status === 200 && answer !== null && "result" in answer) return answer.result as AdminResults[Kind];
    if (status === 400 || status === 422) throw new AdminError(String(answer?.error));
    if (status === 503) throw new UnavailableError(String(answer?.error));
    throw new Error(`the running service failed: ${String(answer?.error)}`);
  };
}

const NONCE_BYTES = 16;

async function post(
  exchange: Exchange,
  control: string,
  authorization: string,
  body: string,
): Promise<{ status: number; text: string; proof: string }> {
  try {
    const headers = { authorization, "content-type": "application/json" };
    const response = await exchange({ method: "POST", url: `${control}${CONTROL_PATH}`, headers, body });
    return { status: response.status, text: await readText(response), proof: response.headers[PROOF_HEADER] ?? "" };
  } catch (error) {
    throw new ControlLostError(`${control} does not answer`, { cause: error });
  }
}

function parseAnswer(text: string): { readonly result?: unknown; readonly error?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
