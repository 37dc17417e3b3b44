// The protocol's test suite speaks HTTP, `surveyctl mcp` stdio. Each POST becomes a line of input, and its response is
// the line with the same id.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/**
 * Serves on a free loopback port. `initialize` starts a process for the requests that follow; without it, each request
 * gets its own, because the protocol is stateless since 2026-07-28.
 */
export async function openBridge(command, args, env) {
  let session = null;
  const ask = async (message) => {
    if (message.method === "initialize") {
      session?.end();
      session = start(command, args, env);
    }
    const child = session ?? start(command, args, env);
    const answer = await child.send(message);
    if (session === null) child.end();
    return answer;
  };
  const server = createServer((request, response) => {
    if (request.method === "POST") void answerPost(request, response, ask);
    else response.writeHead(405, { allow: "POST" }).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const reset = () => {
    session?.end();
    session = null;
  };
  const close = () => {
    reset();
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, reset, close };
}

async function answerPost(request, response, ask) {
  const answer = await ask(JSON.parse(await text(request)));
  if (answer === null) response.writeHead(202).end();
  else response.writeHead(200, { "content-type": "application/json" }).end(answer);
}

function start(command, args, env) {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.(line);
    waiting.delete(id);
  });
  const send = (message) =>
    new Promise((resolve) => {
      if (message.id === undefined) resolve(null);
      else waiting.set(message.id, resolve);
      child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  return { send, end: () => child.stdin.end() };
}
