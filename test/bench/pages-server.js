// A fast service with a fixed number of responses; every page repeats one row.
import { createServer } from "node:http";

const total = Number(process.argv[2] ?? 100_000);
const row = (id) =>
  `{"id":"${id}","person":"${id}","survey_type":"nps","score":${id % 11},"comment":"Works every day for us.","permalink":"http://127.0.0.1/r/token-${id}","created_at":${1_700_000_000 + id},"updated_at":${1_700_000_000 + id},"person_properties":{"plan":"pro","region":"EMEA"},"notes":[],"tags":[],"additional_answers":[]}`;

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url, "http://127.0.0.1");
  const perPage = Number(searchParams.get("per_page") ?? 20);
  const first = (Number(searchParams.get("page") ?? 1) - 1) * perPage;
  const count = Math.max(0, Math.min(perPage, total - first));
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.end(`[${Array.from({ length: count }, (_, index) => row(first + index + 1)).join(",")}]`);
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
