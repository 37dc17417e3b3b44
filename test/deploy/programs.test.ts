import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isLong } from "../helpers/long.ts";
import { bareEnvironment, follow, PROGRAM, runCli, startProgram, type Running } from "../helpers/run-cli.ts";
import { startServeProcess, type ServedProcess } from "../helpers/serve.ts";
import { deployed, findProgram, namesOf, ROOT, runTool, settingsOf } from "./deploy-files.ts";

const state: { folder: string; running: Running[]; served: ServedProcess[] } = { folder: "", running: [], served: [] };
const file = (name: string): string => path.join(state.folder, name);
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-deploy-"));
});
afterEach(async () => {
  for (const { child, ended } of state.running.splice(0)) {
    child.kill("SIGTERM");
    await ended;
  }
  for (const served of state.served.splice(0)) await served.stop();
  await rm(state.folder, { recursive: true, force: true });
});

function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const running = follow(spawn(program, args, { cwd: state.folder, env: bareEnvironment(state.folder, env) }));
  state.running.push(running);
  return running;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe.runIf(isLong)("systemd", () => {
  const analyze = findProgram("systemd-analyze");

  it.skipIf(analyze === null)(
    "takes the units, and finds them closed (runs where systemd-analyze is installed)",
    () => {
      for (const name of [...namesOf(".service"), ...namesOf(".timer")])
        writeFileSync(file(name), deployed(name).replaceAll("ExecStart=surveyctl", `ExecStart=${PROGRAM}`));
      const units = [...namesOf(".service"), ...namesOf(".timer")].map(file);
      expect(runTool(analyze ?? "", ["verify", ...units])).toEqual({ status: 0, said: "" });
      for (const name of namesOf(".service")) {
        const { said } = runTool(analyze ?? "", ["security", "--offline=true", "--no-pager", file(name)]);
        const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(said) ?? [];
        expect(Number(level)).toBeLessThanOrEqual(3);
      }
    },
  );

  it("can run the export of its unit again and again, beside the service", async () => {
    mkdirSync(file("surveyctl/exports"), { recursive: true });
    const unit = deployed("surveyctl-export.service").replaceAll("%S", state.folder);
    const [line = ""] = settingsOf(unit, "ExecStart");
    const [variable = ""] = settingsOf(unit, "Environment");
    const env = { XDG_DATA_HOME: variable.replace("XDG_DATA_HOME=", "") };
    const data = ["--data", file("surveyctl/local.db")];
    const running = startProgram({ args: ["serve", ...data, "--port", "0"], home: state.folder });
    state.running.push(running);
    await running.saying(/listening/);
    for (const score of ["9", "3"]) {
      const email = `score-${score}@example.com`;
      const add = ["responses", "add", "--profile", "local", "--email", email, "--score", score, "--quiet"];
      const person = ["people", "add", "--profile", "local", "--email", email, "--no-send", "--quiet"];
      expect(await runCli({ args: person, env })).toMatchObject({ status: 0, stderr: "" });
      expect(await runCli({ args: add, env })).toMatchObject({ status: 0, stderr: "" });
      expect(await runCli({ args: line.split(" ").slice(1), env })).toMatchObject({ status: 0, stderr: "" });
    }
    const rows = readFileSync(file("surveyctl/exports/responses.csv"), "utf8").trim().split("\n");
    expect(rows.map((row) => /score-\d/.exec(row)?.[0] ?? row.slice(0, 2))).toEqual(["id", "score-9", "score-3"]);
  });

  const activate = findProgram("systemd-socket-activate");
  it.skipIf(activate === null)("hands over its socket (runs where systemd-socket-activate is installed)", async () => {
    const port = await freePort();
    const program = [process.execPath, PROGRAM, "serve", "--data", file("survey.db"), "--port", "1"];
    const running = start(activate ?? "", ["--listen", `127.0.0.1:${port}`, ...program]);
    await expect.poll(() => reaches(`http://127.0.0.1:${port}/healthz`), { timeout: 30_000 }).toBe(200);
    expect((await running.saying(/listening on (\S+)/))[1]).toBe(`http://127.0.0.1:${port}`);
    running.child.kill("SIGTERM");
    expect((await running.ended).status).toBe(0);
  });

  it.skipIf(activate === null)("hands over no socket beyond this machine without TLS", async () => {
    const port = await freePort();
    const program = [process.execPath, PROGRAM, "serve", "--data", file("survey.db")];
    const running = start(activate ?? "", ["--listen", `0.0.0.0:${port}`, ...program]);
    const seen = new Set<number>();
    const look = async (): Promise<number | null> => {
      seen.add(await reaches(`http://127.0.0.1:${port}/healthz`));
      return running.child.exitCode;
    };
    await expect.poll(look, { timeout: 30_000 }).toBe(2);
    expect([...seen]).toEqual([0]);
    const { status, stdout, stderr } = await running.ended;
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/error: --host 0\.0\.0\.0: refusing to serve keys and data without TLS/);
  });
});

async function reaches(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}

describe.runIf(isLong)("the image", () => {
  it("is installed from the package without a network, has what the service needs, and checks its health", async () => {
    const at = (stage: string, text: string): string => text.replaceAll(/(?<=^|\s)\/(?=\w)/g, `${file(stage)}/`);
    const [install = "", last = ""] = deployed("Dockerfile").split(/^FROM gcr.*$/m);
    const folder = at("install", /^WORKDIR (.*)$/m.exec(install)?.[1] ?? "");
    mkdirSync(folder, { recursive: true });
    const packed = runTool("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], ROOT);
    expect(packed).toEqual({ status: 0, said: expect.stringMatching(/^surveyctl-.*\.tgz\n$/) });
    renameSync(path.join(folder, packed.said.trim()), path.join(folder, "surveyctl.tgz"));
    const run = at("install", /^RUN (.*)$/m.exec(install)?.[1] ?? "false");
    expect(runTool("sh", ["-ec", run], folder)).toMatchObject({ status: 0 });
    for (const [, from = "", to = ""] of last.matchAll(/^COPY --from=install (?:--\S+ )?(\S+) (\S+)$/gm))
      cpSync(at("install", from), path.resolve(file("image/app"), at("image", to)), { recursive: true });
    // The image's Node has built-in SQLite; the Node running this test may need the package.
    symlinkSync(path.join(ROOT, "node_modules"), file("node_modules"));
    const [, json = "[]"] = /^CMD (.*)$/m.exec(last) ?? [];
    const args = (JSON.parse(json) as string[]).map((arg) => at("image", arg));
    const program = file("image/app/bin/surveyctl.js");
    const running = start(process.execPath, [program, ...args, "--port", "0"]);
    const [, url = ""] = await running.saying(/^listening on (\S+)$/m);
    const health = start(process.execPath, [program, "service", "health", "--url", url]);
    expect(await health.ended).toMatchObject({ status: 0, stdout: "status\tready\n", stderr: "" });
    running.child.kill("SIGTERM");
    expect((await running.ended).status).toBe(0);
  });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function askOverTls(url: string, { method = "GET", auth = "", body = "" } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    const outgoing = request(url, { method, auth, headers, rejectUnauthorized: false }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (part: string) => (text += part));
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text }));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function openBehind(begin: (port: number, upstream: number) => void): Promise<{ url: string; auth: string }> {
  const port = await freePort();
  const url = `https://localhost:${port}`;
  const served = await startServeProcess({ args: ["--public-url", url] });
  state.served.push(served);
  begin(port, Number(new URL(served.baseUrl).port));
  const reached = (): Promise<number> =>
    askOverTls(`${url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(reached, { timeout: 30_000 }).toBe(200);
  return { url, auth: `${served.apiKey}:` };
}

async function useService({ url, auth }: { readonly url: string; readonly auth: string }): Promise<object> {
  const add = async (email: string): Promise<number> => {
    const body = JSON.stringify({ email, send: false });
    return (await askOverTls(`${url}/v1/people.json`, { method: "POST", auth, body })).status;
  };
  const added = [await add("a@example.com"), await add("b@example.com")];
  const first = await askOverTls(`${url}/v1/people.json?per_page=1`, { auth });
  const [, next = url] = /^<([^>]+)>; rel="next"$/.exec(String(first.headers["link"])) ?? [];
  const second = await askOverTls(next, { auth });
  const pages = [first, second].flatMap(({ body }) => JSON.parse(body) as { email: string }[]);
  const large = await askOverTls(`${url}/v1/people.json`, { method: "POST", auth, body: " ".repeat(1_100_000) });
  return {
    added,
    next: next.replace(/\?.*$/, ""),
    emails: pages.map(({ email }) => email).toSorted(),
    // The proxy must have set it.
    requestId: first.headers["x-request-id"],
    metrics: (await askOverTls(`${url}/metrics`)).status,
    large: large.status,
  };
}

const seenThrough = (url: string): object => ({
  added: [201, 201],
  next: `${url}/v1/people.json`,
  emails: ["a@example.com", "b@example.com"],
  requestId: expect.stringMatching(/^[\da-f-]{32,36}$/),
  metrics: 404,
  large: 413,
});

describe.runIf(isLong)("proxies with TLS", () => {
  const caddy = findProgram("caddy");
  it.skipIf(caddy === null)("Caddy keeps scheme and host of links (runs where Caddy is installed)", async () => {
    const behind = await openBehind((port, upstream) => {
      const options = "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n";
      writeFileSync(file("Caddyfile"), options + deployed("Caddyfile"));
      const env = { SURVEY_HOST: `https://localhost:${port}`, SURVEY_UPSTREAM: `127.0.0.1:${upstream}` };
      start(caddy ?? "", ["run", "--config", file("Caddyfile"), "--adapter", "caddyfile"], env);
    });
    expect(await useService(behind)).toEqual(seenThrough(behind.url));
  });

  const nginx = findProgram("nginx");
  it.skipIf(nginx === null)("nginx keeps scheme and host of links (runs where nginx is installed)", async () => {
    const certificate = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost".split(" ");
    const made = runTool("openssl", [...certificate, "-keyout", file("tls.key"), "-out", file("tls.pem")]);
    expect(made.status).toBe(0);
    const plain = await freePort();
    const behind = await openBehind((port, upstream) => {
      const site = deployed("nginx.conf")
        .replace("listen 80;", `listen 127.0.0.1:${plain};`)
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
        .replaceAll("server_name survey.example.com;", "server_name localhost;")
        .replace("http://127.0.0.1:8080", `http://127.0.0.1:${upstream}`)
        .replaceAll("/etc/nginx/tls/survey.example.com", file("tls"));
      const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const places = folders.map((name) => `${name}_temp_path ${file(name)};`).join("\n");
      const own = process.getuid?.() === 0 ? "user root;\n" : "";
      const main = `${own}daemon off;\npid ${file("nginx.pid")};\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n`;
      writeFileSync(file("nginx.conf"), `${main}${places}\n${site}}\n`);
      start(nginx ?? "", ["-c", file("nginx.conf"), "-p", state.folder]);
    });
    expect(await useService(behind)).toEqual(seenThrough(behind.url));
    const { status, headers } = await fetch(`http://127.0.0.1:${plain}/s/x`, {
      redirect: "manual",
      headers: { host: "localhost" },
    });
    expect([status, headers.get("location")]).toEqual([301, expect.stringMatching(/^https:\/\/[^/]+\/s\/x$/)]);
  });
});
