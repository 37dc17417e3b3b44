// A fast service with a fixed number of responses or people, in a separate process; pages are built in advance.
// Arguments: rows, latency in ms, `times` (respects since and until) or `walk` (ignores them).
import { createServer } from "node:http";

const total = Number(process.argv[2] ?? 100_000);
const latencyMs = Number(process.argv[3] ?? 0);
const mindsTimes = process.argv[4] === "times";
const FIRST = 1_600_000_000;
const STEP = 60;
/** Above this number, rows are made on request, so that the stub fits in memory. */
const BUILT_MAX = 200_000;

const at = (index) => FIRST + index * STEP;
const response = (index) =>
  `{"id":"${index + 1}","person":{"id":"${index + 500}","email":"person${index}@customers.example.com","name":"Person ${index}","created_at":${at(index) - 86_400},"phone_number":null},"survey_type":"nps","score":${index % 11},"comment":"Works every day for us, and support answers within the hour.","permalink":"http://127.0.0.1/r/token-${index}","created_at":${at(index)},"updated_at":${at(index)},"person_properties":{"plan":"pro","region":"EMEA","seats":"${index % 50}"},"notes":[],"tags":["Test"],"additional_answers":[]}`;
const person = (index) =>
  `{"id":"${index + 1}","email":"person${index}@customers.example.com","name":"Person ${index}","created_at":${at(index)},"phone_number":null,"last_sent_at":${at(index) + 60},"last_responded_at":null,"next_survey_scheduled_at":null}`;

/** All rows in one buffer, each followed by a comma, so that any page is a slice of it. */
function prebuild(make) {
  const ends = new Uint32Array(total + 1);
  const pieces = [];
  for (let index = 0; index < total; index += 1) {
    const row = Buffer.from(`${make(index)},`);
    pieces.push(row);
    ends[index + 1] = ends[index] + row.length;
  }
  const bytes = Buffer.concat(pieces);
  return (first, count) => (count <= 0 ? "[]" : enclose(bytes.subarray(ends[first], ends[first + count] - 1)));
}

const enclose = (rows) => {
  const page = Buffer.allocUnsafe(rows.length + 2);
  page[0] = 0x5b;
  page.set(rows, 1);
  page[rows.length + 1] = 0x5d;
  return page;
};
const made = (make) => (first, count) =>
  `[${Array.from({ length: Math.max(0, count) }, (_, offset) => make(first + offset)).join(",")}]`;
const [responses, people] = [response, person].map(total > BUILT_MAX ? made : prebuild);

function range(query) {
  if (!mindsTimes) return { first: 0, end: total };
  const since = Number(query.get("since") ?? 0);
  const until = Number(query.get("until") ?? Infinity);
  const first = Math.max(0, Math.ceil((since - FIRST) / STEP));
  return { first, end: Math.min(total, Math.floor((until - FIRST) / STEP) + 1) };
}

function answer(url, respond) {
  const { pathname, searchParams: query } = new URL(url, "http://127.0.0.1");
  const perPage = Number(query.get("per_page") ?? 20);
  if (pathname.endsWith("/metrics.json")) {
    const { first, end } = range(query);
    return respond({}, `{"nps":0,"response_count":${Math.max(0, end - first)}}`);
  }
  if (pathname.endsWith("/people.json")) {
    const { first, end } = range(new URLSearchParams([...query, ...new URLSearchParams(query.get("page_info") ?? "")]));
    const from = query.has("page_info") ? Number(new URLSearchParams(query.get("page_info")).get("from")) : first;
    const count = Math.min(perPage, end - from);
    const info = new URLSearchParams({
      from: String(from + count),
      until: query.get("until") ?? new URLSearchParams(query.get("page_info") ?? "").get("until") ?? "",
    });
    if (info.get("until") === "") info.delete("until");
    const next = new URLSearchParams({ per_page: String(perPage), page_info: info.toString() });
    const link = from + count < end ? { link: `<http://${query.host}${pathname}?${next}>; rel="next"` } : {};
    return respond(link, people(from, count));
  }
  const { first, end } = range(query);
  const from =
    query.get("order") === "desc"
      ? Math.max(first, end - perPage)
      : first + (Number(query.get("page") ?? 1) - 1) * perPage;
  return respond({}, responses(from, Math.min(perPage, end - from)));
}

const server = createServer((request, reply) => {
  answer(request.url, (headers, body) => {
    const send = () => {
      const link = headers.link?.replace("undefined", request.headers.host);
      reply.writeHead(200, { "content-type": "application/json; charset=utf-8", ...(link && { link }) });
      reply.end(body);
    };
    if (latencyMs > 0) setTimeout(send, latencyMs);
    else send();
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
