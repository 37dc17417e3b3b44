/** Requests to the service over HTTP, and how replies are interpreted. */
import type { End } from "../checks/possible.ts";
import type { Answer, Machine } from "./machine.ts";

export const PUBLIC_URL = "https://survey.example";

export type Json = Readonly<Record<string, unknown>>;

export interface Calls {
  readonly api: (key: string, method: string, path: string, body?: Json) => Promise<Answer>;
  /** Posts JSON like a provider. */
  readonly hook: (path: string, body: Json) => Promise<Answer>;
  /** Requests a page like a browser or mail client. */
  readonly page: (method: string, path: string, fields?: Readonly<Record<string, string>>) => Promise<Answer>;
}

export function createCalls(machine: Machine): Calls {
  return {
    api: (key, method, path, body) =>
      machine.request({
        method,
        url: `${PUBLIC_URL}/v1${path}`,
        headers: {
          host: "survey.example",
          authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    hook: (path, body) =>
      machine.request({
        method: "POST",
        url: `${PUBLIC_URL}${path}`,
        headers: { host: "survey.example", "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    page: (method, path, fields) =>
      machine.request({
        method,
        url: `${PUBLIC_URL}${path}`,
        headers: {
          host: "survey.example",
          ...(fields === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        },
        ...(fields === undefined ? {} : { body: new URLSearchParams(fields).toString() }),
      }),
  };
}

/** Ends attempts according to the reply. */
export function settle(ends: readonly End[], { status, isTaken }: Answer): boolean {
  const isDone = status !== null && status < 400;
  const isRefused = status === null ? !isTaken : status >= 400 && status < 500;
  for (const end of ends) end(isDone ? "acknowledged" : isRefused ? "refused" : "unknown");
  return isDone;
}
