import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  json,
  startMisbehavingServer,
  TLS_CERTIFICATE,
  type MisbehavingServer,
} from "../../helpers/misbehaving-server.ts";
import { proxiedUrl, startProxy } from "../../helpers/proxy-server.ts";

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-tls-"));
  program = path.join(folder, "caller.mjs");
  const entry = path.join(import.meta.dirname, "tls-caller.ts");
  await build({ input: entry, platform: "node", output: { file: program, codeSplitting: false } });
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function callFrom(baseUrl: string, env: Record<string, string>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, baseUrl], { env });
  return JSON.parse(stdout);
}

async function tlsServer(): Promise<MisbehavingServer> {
  const server = await startMisbehavingServer({ script: [json({ nps: 3 })], tls: true });
  onTestFinished(async () => await server.stop());
  return server;
}

describe("a service whose certificate only we know", () => {
  it("when NODE_EXTRA_CA_CERTS names it, then the call goes through", async () => {
    const server = await tlsServer();
    expect(await callFrom(server.baseUrl, { NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE })).toEqual({ nps: 3 });
  });

  it("when a proxy with credentials stands between, then the tunnel carries the call", async () => {
    const server = await tlsServer();
    const proxy = await startProxy("user:p@ss");
    onTestFinished(async () => await proxy.stop());
    const env = { NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE, HTTPS_PROXY: `http://user:p%40ss@${proxy.host}` };
    expect(await callFrom(proxiedUrl(server), env)).toEqual({ nps: 3 });
    expect(proxy.seen).toEqual([`CONNECT survey.example.com:${server.port}`]);
    expect(server.requests[0]?.headers["proxy-authorization"]).toBeUndefined();
  });

  it("when the certificate is for another host, then the message says so", async () => {
    const server = await tlsServer();
    const url = `https://127.0.0.1:${server.port}`;
    const what = `the certificate of 127.0.0.1:${server.port} cannot be trusted (it is for another host, ERR_TLS_CERT_ALTNAME_INVALID)`;
    expect(await callFrom(url, { NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE })).toEqual({
      error: `${what}: GET ${url}/v1/metrics.json`,
    });
  });
});
