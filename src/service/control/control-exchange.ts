/** The server's end of the control channel: commands for those who have the secret, the service itself for everybody. */
import { timingSafeEqual } from "node:crypto";
import type { Exchange, HttpResponse } from "../../contract/http.ts";
import { AdminError, type Admin, type AdminCommand } from "./commands.ts";

export const CONTROL_PATH = "/control";

/** Answers 401 without the secret, 422 what cannot be done as asked, 500 faults. */
export function createControlExchange(secret: string, admin: Admin, service: Exchange): Exchange {
  const expected = Buffer.from(`Bearer ${secret}`);
  return async (request) => {
    if (!request.url.endsWith(CONTROL_PATH) || request.method !== "POST") return service(request);
    const given = Buffer.from(request.headers.authorization ?? "");
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return reply(401, { error: "not the secret of this service" });
    return carryOut(admin, request.body);
  };
}

async function carryOut(admin: Admin, body: string | Uint8Array | undefined): Promise<HttpResponse> {
  try {
    const command = JSON.parse(Buffer.from(body ?? "").toString("utf8")) as AdminCommand;
    return reply(200, { result: await admin(command) });
  } catch (error) {
    if (error instanceof AdminError) return reply(422, { error: error.message });
    return reply(500, { error: error instanceof Error ? error.message : "unknown" });
  }
}

function reply(status: number, value: unknown): HttpResponse {
  return { status, headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(value) };
}
