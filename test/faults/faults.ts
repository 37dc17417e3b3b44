import {
  answer,
  cutChunked,
  cutShort,
  flood,
  hangUp,
  json,
  reset,
  stall,
  type Behaviour,
} from "../helpers/misbehaving-server.ts";

export interface Fault {
  readonly behaviour: Behaviour;
  readonly resetsConnections?: boolean;
  readonly refuses?: boolean;
  readonly flags?: readonly string[];
  /** Limits concurrent runs that need much memory. */
  readonly atOnce?: number;
}

const html = (status: number, title: string, headers: Record<string, string | null> = {}): Behaviour =>
  answer(
    status,
    `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>nginx</p></body></html>`,
    {
      "content-type": "text/html",
      ...headers,
    },
  );
const limited = (retryAfter: string | null): Behaviour =>
  answer(429, "", retryAfter === null ? {} : { "retry-after": retryAfter });
const ROWS = [{ id: "1", person_id: "1", email: "ann@example.com" }];
const httpDate = (secondsAhead: number): string => new Date(Date.now() + secondsAhead * 1000).toUTCString();

export const FAULTS: Readonly<Record<string, Fault>> = {
  "connection refused": { behaviour: stall, refuses: true },
  "reset before the request is read": { behaviour: stall, resetsConnections: true },
  "reset after the request was read": { behaviour: reset },
  "closed without an answer": { behaviour: hangUp },
  "no answer": { behaviour: stall, flags: ["--timeout", "1", "--retries", "0"] },
  "401": { behaviour: json({ message: "invalid credentials" }, {}, 401) },
  "403": { behaviour: html(403, "Forbidden") },
  "404 in HTML": { behaviour: html(404, "Not Found") },
  "410, empty": { behaviour: answer(410, "") },
  "422 in JSON": { behaviour: json({ errors: { email: ["is invalid"] } }, {}, 422) },
  "429, Retry-After in seconds": { behaviour: limited("1") },
  "429, Retry-After as a date": { behaviour: (socket, request) => limited(httpDate(1))(socket, request) },
  "429, Retry-After in the past": { behaviour: (socket, request) => limited(httpDate(-100))(socket, request) },
  "429, no Retry-After": { behaviour: limited(null) },
  "429, Retry-After of a year": { behaviour: limited("31536000") },
  "429, Retry-After that is no time": { behaviour: limited("soon; <b>please</b>") },
  "500 in HTML": { behaviour: html(500, "Internal Server Error") },
  "503, empty": { behaviour: answer(503, "") },
  "503, Retry-After in seconds": { behaviour: json({ error: "down for maintenance" }, { "retry-after": "1" }, 503) },
  "302 to another host": { behaviour: answer(302, "", { location: "https://elsewhere.example.com/login?next=%2F" }) },
  "301 within the host, for ever": { behaviour: answer(301, "", { location: "/v2/people.json" }) },
  "Link to another host": {
    behaviour: json(ROWS, { link: '<https://elsewhere.example.com/v1/people.json?page_info=2>; rel="next"' }),
  },
  "Link to itself": {
    behaviour: (socket, request) => json(ROWS, { link: `<${request.target}>; rel="next"` })(socket, request),
  },
  "body cut short": { behaviour: cutShort('[{"id":"1","email":"ann@exa') },
  "chunked body cut": { behaviour: cutChunked('[{"id":"1","email":"ann@example.com"},') },
  "200 in HTML": { behaviour: html(200, "Sign in to the hotel's Wi-Fi") },
  "JSON called text/html": { behaviour: json([], { "content-type": "text/html" }) },
  "200, empty": { behaviour: answer(200, "") },
  "JSON of another shape": { behaviour: json("people") },
  "a list of no objects": { behaviour: json([1, null]) },
  "half a JSON text": { behaviour: answer(200, '[{"id":"1"') },
  "not UTF-8": { behaviour: answer(200, Buffer.from([0x5b, 0x7b, 0x22, 0xe9, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x5d])) },
  "a body of 1 GB": { behaviour: flood(1024 ** 3), atOnce: 2 },
  "a body of 1 GB in chunks": { behaviour: flood(1024 ** 3, { chunked: true }), atOnce: 2 },
};
