/** The server's end of the control channel: commands for those who have the secret, the service itself for everybody. */
import * as v from "valibot";
import type { Exchange, HttpResponse } from "../../contract/http.ts";
import { AdminError, COMMAND, type Admin } from "./commands.ts";
import { checkRequest, PROOF_HEADER, proveAnswer } from "./proof.ts";

export const CONTROL_PATH = "/control";

/**
 * Answers 401 without proof of the secret, 400 what is no command, 422 what cannot be done as asked, 500 faults. All but
 * the first carry the server's own proof.
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
    return reply(500, { error: error instanceof Error ? error.message : "unknown" });
  }
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
