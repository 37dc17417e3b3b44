// Baseline: a server that reads each request and responds with a constant body of the given size.
import { createServer } from "node:http";

const body = Buffer.alloc(Number(process.argv[2] ?? 2), "x");
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json; charset=utf-8", "content-length": body.length });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
