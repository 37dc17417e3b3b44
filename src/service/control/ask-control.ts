/** The command's end of the control channel. */
import type { Exchange } from "../../contract/http.ts";
import { AdminError, type Admin, type AdminKind, type AdminResults, type CommandOf } from "./commands.ts";
import { CONTROL_PATH } from "./control-exchange.ts";
import type { ControlRecord } from "./control-file.ts";
import { readText } from "./loopback-exchange.ts";

/** The server that a control file names does not answer: it has ended, or is about to. */
export class ControlLostError extends Error {
  override readonly name = "ControlLostError";
}

/** The commands, carried out by a running server. Throws ControlLostError when nobody with this secret answers there. */
export function createControlClient({ control, secret }: ControlRecord, exchange: Exchange): Admin {
  return async <Kind extends AdminKind>(command: CommandOf<Kind>): Promise<AdminResults[Kind]> => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const { status, text } = await post(exchange, control, headers, JSON.stringify(command));
    const answer = parseAnswer(text);
    if (status === 200 && answer !== null && "result" in answer) return answer.result as AdminResults[Kind];
    if (status === 422) throw new AdminError(String(answer?.error));
    if (status === 500) throw new Error(`the running service failed: ${String(answer?.error)}`);
    throw new ControlLostError(`${control} is not the service that left its address`);
  };
}

async function post(
  exchange: Exchange,
  control: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  try {
    const response = await exchange({ method: "POST", url: `${control}${CONTROL_PATH}`, headers, body });
    return { status: response.status, text: await readText(response) };
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
