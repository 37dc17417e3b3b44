import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  dictionary,
  integer,
  json,
  nat,
  oneof,
  record,
  string,
  tuple,
  uint8Array,
} from "fast-check";
import { expect, it } from "vitest";
import type { Exchange, HttpResponse } from "../../src/contract/http.ts";
import { createClient } from "../../src/client/create-client.ts";
import { ClientError } from "../../src/client/errors/client-error.ts";
import { ConnectionError } from "../../src/client/errors/call-errors.ts";
import { nameCall } from "../../src/client/errors/client-error.ts";
import { Gate } from "../../src/client/gate/gate.ts";
import { anyText } from "../helpers/any-text.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { size } from "../helpers/long.ts";
import { API_KEY } from "./with-server.ts";

type Body = { readonly bytes: Uint8Array; readonly breaks: boolean };

const bytes = oneof(
  json().map((text) => Buffer.from(text)),
  json().map((text) => Buffer.from(text.slice(0, Math.floor(text.length / 2)))),
  uint8Array({ maxLength: 200 }),
  anyText.map((text) => Buffer.from(`<html><title>${text}</title>`)),
  constant(Buffer.from('[{"id":"1","email":"a@b.c","last_sent_at":9999999999,"person":"7","score":1}]')),
  constant(Buffer.from('{"errors":{"a":["b"]},"message":null}')),
);
const header = oneof(
  anyText,
  constant("\u0085//\u202Ex y\u0007"),
  nat().map(String),
  constantFrom(
    "gzip",
    "br",
    "zstd",
    '</next?page_info=1>; rel="next"',
    "Mon, 01 Jun 2026 12:00:30 GMT",
    "1",
    "0",
    "-1",
  ),
);
const names = constantFrom(
  "retry-after",
  "content-encoding",
  "link",
  "location",
  "date",
  "content-type",
  "x-request-id",
);
const reply = record({
  status: oneof(
    constantFrom(200, 201, 202, 204, 301, 401, 404, 408, 422, 429, 500, 503),
    integer({ min: 200, max: 599 }),
  ),
  headers: array(tuple(names, header), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
  body: record<Body>({ bytes, breaks: constantFrom(false, false, false, true) }),
});

async function* chunks({ bytes: all, breaks }: Body, fail: () => Error): AsyncGenerator<Uint8Array> {
  yield all.subarray(0, 7);
  yield all.subarray(7);
  if (breaks) throw fail();
}

function transportOf(replies: readonly { status: number; headers: Record<string, string>; body: Body }[]): Exchange {
  let next = 0;
  return async ({ method, url }): Promise<HttpResponse> => {
    const fail = (): Error =>
      new ConnectionError("broke", {
        call: nameCall(method, url),
        sent: next % 3 === 0 ? "no" : "maybe",
      });
    const given = replies[next % replies.length];
    next += 1;
    if (given === undefined || next % 11 === 0) throw fail();
    return { status: given.status, headers: given.headers, body: chunks(given.body, fail) };
  };
}

const calls = constantFrom("people", "responses", "metrics", "send", "respond", "remove", "raw");

it("when anything at all is answered, then it is a documented success or a documented error", async () => {
  const endings = { success: 0, unknown: 0, error: 0 };
  await assert(
    asyncProperty(
      array(reply, { minLength: 1, maxLength: 4 }),
      calls,
      dictionary(string(), string(), { maxKeys: 2 }),
      async (replies, call, properties) => {
        const clock = createFakeClock();
        const gate = new Gate({ clock, concurrency: 2 });
        const client = createClient({
          baseUrl: "http://h/b",
          apiKey: API_KEY,
          transport: transportOf(replies),
          clock,
          gate,
          policy: { retries: 2 },
        });
        const run = async (): Promise<"success" | "unknown"> => {
          if (call === "people") await first(client.listPeople({ email: "a@b.c" }));
          if (call === "responses") await first(client.listResponses({}));
          if (call === "metrics") await client.getMetrics({});
          if (call === "raw") await client.raw({ method: "POST", url: "http://h/b/x", body: "{}" });
          if (call === "remove") return kindOf(await client.removeMember("email", { person_id: "7" }));
          if (call === "send") return kindOf(await client.sendPerson({ email: "a@b.c", properties }));
          if (call === "respond") return kindOf(await client.addResponse({ person: "7", score: 1 }));
          return "success";
        };
        const ending = await run().catch((error: unknown) => error);
        expect(complaint(ending)).toBe("");
        endings[ending === "success" || ending === "unknown" ? ending : "error"] += 1;
      },
    ),
    { numRuns: size(200, 5000) },
  );
  expect(Math.min(endings.success, endings.unknown, endings.error)).toBeGreaterThan(size(6, 50));
});

function complaint(ending: unknown): string {
  if (ending === "success" || ending === "unknown") return "";
  if (!(ending instanceof ClientError)) return `no error of ours: ${String(ending)}`;
  if (/[\p{Cc}\u202E]/u.test(ending.message)) return `controls: ${JSON.stringify(ending.message)}`;
  return /: (?:GET|POST|DELETE) http:\/\/h\/\S*$/.test(ending.message) ? "" : `names no call: ${ending.message}`;
}

/** Links can make a list endless. */
async function first(pages: AsyncGenerator): Promise<void> {
  let left = 5;
  for await (const _ of pages) if ((left -= 1) === 0) break;
}

function kindOf(result: { readonly kind: string }): "success" | "unknown" {
  return result.kind === "unknown" ? "unknown" : "success";
}
