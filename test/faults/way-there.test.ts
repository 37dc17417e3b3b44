import { describe, expect, it, onTestFinished } from "vitest";
import {
  json,
  startMisbehavingServer,
  TLS_CERTIFICATE,
  type MisbehavingServer,
} from "../helpers/misbehaving-server.ts";
import { proxiedUrl, startProxy } from "../helpers/proxy-server.ts";
import { runCli } from "../helpers/run-cli.ts";

interface Line {
  readonly status: number | null;
  readonly stdout: string;
  readonly said: string;
}

async function listThrough(baseUrl: string, env: Record<string, string>): Promise<Line> {
  const args = ["people", "list", "--columns", "id", "--retries", "0", "--base-url", baseUrl];
  const { status, stdout, stderr } = await runCli({ args, env: { SURVEYCTL_API_KEY: "key-of-the-way", ...env } });
  return { status, stdout, said: (stderr.split("\n")[0] ?? "").replaceAll(/:\d{4,5}\b/g, "") };
}

async function service(tls: boolean): Promise<MisbehavingServer> {
  const server = await startMisbehavingServer({ script: [json([{ id: "7" }])], tls });
  onTestFinished(async () => await server.stop());
  return server;
}

async function proxyOf(credentials?: string): ReturnType<typeof startProxy> {
  const proxy = await startProxy(credentials);
  onTestFinished(async () => await proxy.stop());
  return proxy;
}

const GOOD: Line = { status: 0, stdout: "7\n", said: "" };

describe("certificates", () => {
  it("when nobody vouches for the certificate, then the error says so", async () => {
    const line = await listThrough((await service(true)).baseUrl, {});
    const said =
      "error: the certificate of localhost cannot be trusted (it is self-signed, DEPTH_ZERO_SELF_SIGNED_CERT)";
    expect(line).toEqual({ status: 1, stdout: "", said });
  });

  it("when NODE_EXTRA_CA_CERTS vouches for it, then the call goes through", async () => {
    expect(await listThrough((await service(true)).baseUrl, { NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE })).toEqual(GOOD);
  });
});

describe("proxies", () => {
  it("when HTTPS_PROXY carries credentials, then the call goes through a tunnel", async () => {
    const [server, proxy] = [await service(true), await proxyOf("user:p@ss")];
    const env = { NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE, HTTPS_PROXY: `http://user:p%40ss@${proxy.host}` };
    expect(await listThrough(proxiedUrl(server), env)).toEqual(GOOD);
    expect(proxy.seen).toEqual([`CONNECT survey.example.com:${server.port}`]);
  });

  it("a service on this machine is never asked through the proxy", async () => {
    const [server, proxy] = [await service(true), await proxyOf()];
    const env = { NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE, HTTPS_PROXY: `http://${proxy.host}` };
    expect(await listThrough(server.baseUrl, env)).toEqual(GOOD);
    expect(proxy.seen).toEqual([]);
  });

  it("when the proxy refuses the credentials, then the error names the proxy and not the password", async () => {
    const [server, proxy] = [await service(true), await proxyOf("user:right")];
    const line = await listThrough(proxiedUrl(server), { HTTPS_PROXY: `http://user:wrong-password@${proxy.host}` });
    expect(line).toMatchObject({ status: 1, stdout: "" });
    expect(line.said).toMatch(/^error: .*proxy 127\.0\.0\.1.*407/);
    expect(line.said).not.toContain("wrong-password");
  });

  it("when the proxy is not there, then the error names it", async () => {
    const line = await listThrough(proxiedUrl(await service(true)), { HTTPS_PROXY: "http://127.0.0.1:9" });
    expect(line).toMatchObject({ status: 1, stdout: "" });
    expect(line.said).toMatch(/^error: .*proxy 127\.0\.0\.1/);
  });
});
