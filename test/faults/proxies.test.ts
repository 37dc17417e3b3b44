import { describe, it } from "vitest";
import { runInProcess } from "../helpers/in-process.ts";
import {
  answer,
  hangUp,
  raw,
  reset,
  stall,
  startMisbehavingServer,
  type Behaviour,
} from "../helpers/misbehaving-server.ts";

const CREDENTIALS = "user:secret-of-proxy";
const OPENED = "HTTP/1.1 200 OK\r\n\r\n";

const FAULTS: Readonly<Record<string, Behaviour>> = {
  "no answer": stall,
  reset,
  "closed without an answer": hangUp,
  "no HTTP": raw("SSH-2.0-OpenSSH\r\n\r\n"),
  "403 in HTML": answer(403, "<h1>Blocked by policy</h1>", { "content-type": "text/html" }),
  "407": answer(407, "", { "proxy-authenticate": 'Basic realm="proxy"' }),
  "502": answer(502, "bad gateway"),
  "its credentials said back": (socket, request) =>
    answer(502, `no ${request.headers["proxy-authorization"] ?? ""} ${CREDENTIALS}`)(socket, request),
  "503, Retry-After": answer(503, "", { "retry-after": "1" }),
  "a tunnel to nowhere": raw(OPENED, { keepOpen: true }),
  "a tunnel opened with 201": raw("HTTP/1.1 201 Created\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n"),
  "a tunnel to no TLS": raw(`${OPENED}HTTP/1.1 400 Bad Request\r\n\r\n`),
  "a tunnel that breaks": raw(OPENED),
};

const COMMANDS = [
  ["people", "list"],
  ["people", "add", "--email", "ann@example.com"],
];

describe.concurrent("a proxy that misbehaves", () => {
  it.for(["https", "http"])("on the way to an address with %s", async (scheme, { expect }) => {
    const cells = Object.keys(FAULTS)
      .filter((fault) => scheme === "https" || !fault.startsWith("a tunnel"))
      .flatMap((fault) => COMMANDS.map((args) => ({ fault, args })));
    const lines = await Promise.all(cells.map(({ fault, args }) => lineOf(scheme, fault, args)));
    await expect(`${scheme}\n\n${lines.join("")}`).toMatchFileSnapshot(`../golden/proxies/${scheme}.txt`);
  });
});

async function lineOf(scheme: string, fault: string, args: readonly string[]): Promise<string> {
  const proxy = await startMisbehavingServer({ script: [FAULTS[fault] ?? stall] });
  const place = `http://${CREDENTIALS}@127.0.0.1:${proxy.port}`;
  const flags = [
    "--retries",
    "1",
    "--timeout",
    "1",
    "--max-wait",
    "2",
    "--quiet",
    "--insecure-http",
    "--base-url",
    `${scheme}://survey.example.com`,
  ];
  const env = { HOME: "/nonexistent", SURVEYCTL_API_KEY: "key-of-the-proxies", HTTPS_PROXY: place, HTTP_PROXY: place };
  const { status, stdout, stderr } = await runInProcess({ args: [...args, ...flags], env });
  await proxy.stop();
  const secrets = ["secret-of-proxy", Buffer.from(CREDENTIALS).toString("base64"), "key-of-the-proxies"];
  const leak = secrets.some((secret) => (stdout + stderr).includes(secret)) ? "LEAKS " : "";
  const said = stderr.split("\n").find((line) => line.startsWith("error:")) ?? "";
  return `${fault.padEnd(26)}${args.slice(0, 2).join(" ").padEnd(13)}${status}  ${proxy.requests.length} asked  ${leak}${said.replaceAll(String(proxy.port), "PORT")}\n`;
}
