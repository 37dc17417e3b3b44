/** Random replies that no sane service gives: rows with the right names and arbitrary values, and anything else. */
import {
  array,
  constantFrom,
  integer,
  jsonValue,
  oneof,
  record,
  string,
  tuple,
  uint8Array,
  type Arbitrary,
} from "fast-check";
import { RESOURCES } from "../../src/contract/resources.ts";
import { anyText } from "../helpers/any-text.ts";
import { answer, cutShort, raw, type Behaviour } from "../helpers/misbehaving-server.ts";

export interface Reply {
  readonly words: string;
  readonly behaviour: Behaviour;
}

const NAMES = [
  ...new Set(
    Object.values(RESOURCES)
      .flat()
      .map(({ name }) => name),
  ),
  "message",
  "error",
  "errors",
  // Properties that every JavaScript object inherits.
  "constructor",
  "toString",
  "valueOf",
];
const terrible = constantFrom(
  "\u001B]0;x\u0007",
  "\u009B2J",
  "\u202Ex",
  "\u0000",
  "\uD800",
  "=cmd",
  "-1",
  "9".repeat(400),
  "1e999",
  "__proto__",
);
const value = oneof(
  jsonValue(),
  terrible,
  integer(),
  constantFrom("9", 9, 1_769_947_200, -1, 1e300, "2026-01-01T00:00:00Z", "ann@example.com", null),
);
const row = record(Object.fromEntries(NAMES.map((name) => [name, value])), { requiredKeys: [] });
const plain = record({
  id: integer().map(String),
  person_id: constantFrom("7"),
  email: constantFrom("ann@example.com"),
  score: integer(),
});
const text: Arbitrary<string | Buffer> = oneof(
  { weight: 4, arbitrary: array(oneof(row, plain), { maxLength: 4 }).map((rows) => JSON.stringify(rows)) },
  { weight: 3, arbitrary: oneof(row, plain).map((one) => JSON.stringify(one)) },
  { weight: 2, arbitrary: value.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: anyText.map((words) => `<html><title>${words}</title>`) },
  { weight: 1, arbitrary: constantFrom("", "[]", "{}", "null", "[null]", "[[]]", '[{"id":1', "\uFEFF[]", "NaN") },
);

const status = oneof(
  { weight: 6, arbitrary: constantFrom(200, 200, 201) },
  { weight: 3, arbitrary: constantFrom(202, 204, 301, 304, 400, 401, 404, 408, 422, 429, 500, 503) },
  { weight: 1, arbitrary: integer({ min: 200, max: 999 }) },
);
const visible = string({ maxLength: 20 }).map((words) => words.replaceAll(/[^\x21-\x7E]/g, " "));
const headers = array(
  oneof(
    tuple(constantFrom("retry-after", "link", "location", "date", "content-type", "x-request-id"), visible),
    tuple(constantFrom("content-encoding"), constantFrom("gzip", "br", "deflate", "zstd", "identity", "")),
    tuple(
      constantFrom("link"),
      constantFrom('</v1/people.json?page_info=2>; rel="next"', '<//elsewhere.example/>; rel="next"', '<>; rel="next"'),
    ),
    tuple(constantFrom("location"), constantFrom("/v1/people.json", "http://elsewhere.example/", "//", "http://[")),
    tuple(constantFrom("content-length"), constantFrom("0", "1", "-1", "many", "99")),
  ),
  { maxLength: 2 },
).map((pairs) => Object.fromEntries(pairs) as Record<string, string>);

export const reply: Arbitrary<Reply> = oneof(
  {
    weight: 20,
    arbitrary: tuple(status, text, headers).map(([code, body, extra]) => ({
      words: `${code} ${JSON.stringify(extra)} ${String(body)}`,
      behaviour: toClose(answer(code, body, extra)),
    })),
  },
  {
    weight: 1,
    arbitrary: text.map((body) => ({ words: `cut short: ${String(body)}`, behaviour: cutShort(String(body)) })),
  },
  {
    weight: 1,
    arbitrary: tuple(constantFrom("", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 ", "HTTP/2 200\r\n\r\n"), anyText).map(
      ([start, rest]) => ({
        words: `raw: ${start}${rest}`,
        behaviour: raw(`${start}${rest}`),
      }),
    ),
  },
);

/** A wrong Content-Length would leave the client waiting. */
function toClose(behaviour: Behaviour): Behaviour {
  return async (socket, request) => {
    await behaviour(socket, request);
    socket.end();
  };
}
