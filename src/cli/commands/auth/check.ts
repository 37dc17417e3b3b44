import { ClientError } from "../../../client/errors/client-error.ts";
import { BadReplyError } from "../../../client/errors/bad-reply-error.ts";
import { RefusedError } from "../../../client/errors/status-errors.ts";
import { createWaitLines } from "../../command/wait-lines.ts";
import { ConfigError } from "../../../config/config-error.ts";
import type { Deps } from "../../command/deps.ts";

export interface Checked {
  readonly baseUrl: string;
  readonly key: string;
  /** What to do about an error; null keeps what it says itself. */
  readonly advice: (error: ClientError) => string | null;
}

/** One harmless call. Throws the client's errors, with that advice. */
export async function check(deps: Deps, { baseUrl, key, advice }: Checked): Promise<void> {
  if (key === "") throw new ConfigError("missing", "the key is empty");
  const { openRemoteClient } = await import("../../command/connect.ts");
  const waits = createWaitLines(deps);
  const client = openRemoteClient(deps, { baseUrl, apiKey: key, waits, retriesMax: 1 });
  try {
    await client.getMetrics({}, { signal: deps.signal });
  } catch (error) {
    const hint = error instanceof ClientError ? advice(error) : null;
    throw error instanceof ClientError && hint !== null ? error.advise(hint) : error;
  } finally {
    await waits.end();
    await client.close();
  }
}

export const BASE_URL_ADVICE = "the base URL is what stands before /v1, as in https://surveys.example.com";

/** Whether something answered that speaks no survey API at that address. */
export function answeredElse(error: ClientError): boolean {
  return error instanceof RefusedError || error instanceof BadReplyError;
}
