/** The command's end of the control channel. */
import type { Exchange } from "../../contract/http.ts";
import type { Random } from "../../runtime/random.ts";
import { AdminError, type Admin, type AdminKind, type AdminResults, type CommandOf } from "./commands.ts";
import { CONTROL_PATH } from "./control-exchange.ts";
import type { ControlRecord } from "./control-file.ts";
import { readText } from "./loopback-exchange.ts";
import { isEqual, PROOF_HEADER, proveAnswer, proveRequest } from "./proof.ts";

/** The server that a control file names does not answer: it has ended, or is about to. */
export class ControlLostError extends Error {
  override readonly name = "ControlLostError";
}

/**
 * The commands, carried out by a running server. Throws ControlLostError when nobody who knows the secret answers there;
 * whoever answers instead learns neither the secret nor, if the first command is a ping, anything else.
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
