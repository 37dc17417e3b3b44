// A fast service with a fixed number of responses or people, in a process of its own: pages are built before they are
// asked for. Arguments: rows, latency in ms, `times` (minds since and until) or `walk` (ignores them).
import { createServer } from "node:http";

const total = Number(process.argv[2] ?? 100_000);
const latencyMs = Number(process.argv[3] ?? 0);
const mindsTimes = process.argv[4] === "times";
const FIRST = 1_600_000_000;
const STEP = 60;
/** More than this many rows are made when they are asked for, so that the stub fits in memory. */
const BUILT_MAX = 200_000;

const at = (index) => FIRST + index * STEP;
const response = (index) =>
  `{"id":"${index + 1}","person":{"id":"${index + 500}","email":"person${index}@customers.example.com","name":"Person ${index}","created_at":${at(index) - 86_400},"phone_number":null},"survey_type":"nps","score":${index % 11},"comment":"Works every day for us, and support answers within the hour.","permalink":"http://127.0.0.1/r/token-${index}","created_at":${at(index)},"updated_at":${at(index)},"person_properties":{"plan":"pro","region":"EMEA","seats":"${index % 50}"},"notes":[],"tags":["Test"],"additional_answers":[]}`;
const person = (index) =>
  `{"id":"${index + 1}","email":"person${index}@customers.example.com","name":"Person ${index}","created_at":${at(index)},"phone_number":null,"last_sent_at":${at(index) + 60},"last_responded_at":null,"next_survey_scheduled_at":null}`;

const built = new Map();
const page = (make, first, count) => `[${Array.from({ length: Math.max(0, count) }, (_, offset) => make(first + offset)).join(",")}]`;
const rowsOf = (make) => {
  if (total > BUILT_MAX) return null;
  if (!built.has(make))
    built.set(
      make,
      Array.from({ length: total }, (_, index) => make(index)),
    );
  return built.get(make);
};
const pagesOf = new Map();
function prebuilt(make, first, count) {
  const key = `${make.name} ${first} ${count}`;
  if (total <= BUILT_MAX && !pagesOf.has(key)) pagesOf.set(key, Buffer.from(page((index) => rowsOf(make)[index], first, count)));
  return pagesOf.get(key) ?? page(make, first, count);
}
const pageCount = total > BUILT_MAX ? 0 : Math.ceil(total / 100);
for (const index of Array(pageCount).keys()) prebuilt(response, index * 100, Math.min(100, total - index * 100));

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
    return respond(link, prebuilt(person, from, count));
  }
  const { first, end } = range(query);
  const from = query.get("order") === "desc" ? Math.max(first, end - perPage) : first + (Number(query.get("page") ?? 1) - 1) * perPage;
  return respond({}, prebuilt(response, from, Math.min(perPage, end - from)));
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
