import type { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { nameProxy, ProxyError, proxyRefusal, unreachableProxy, type Proxy } from "./proxy.ts";

export interface TunnelTarget {
  readonly hostname: string;
  readonly port: string;
}

/** A TLS connection to the target through the proxy's `CONNECT`, the proxy's credentials seen by the proxy alone. */
export async function openTunnel(target: TunnelTarget, proxy: Proxy, timeoutMs: number): Promise<Socket> {
  const socket = await connectThrough(target, proxy, timeoutMs);
  const tls = await import("node:tls");
  const host = target.hostname.replace(/^\[|\]$/g, "");
  const options: ConnectionOptions = {
    socket,
    host,
    servername: isAddress(host) ? "" : host,
    ALPNProtocols: ["http/1.1"],
  };
  return await new Promise((resolve, reject) => {
    const secured = tls.connect(options);
    const late = (): void =>
      void secured.destroy(
        new ProxyError(`no TLS connection came about in time through the proxy ${nameProxy(proxy)}`, true),
      );
    secured.setTimeout(timeoutMs, late);
    secured.once("error", reject);
    secured.once("secureConnect", () => {
      secured.setTimeout(0);
      secured.off("error", reject);
      resolve(secured.setNoDelay(true));
    });
  });
}

async function connectThrough(target: TunnelTarget, proxy: Proxy, timeoutMs: number): Promise<Socket> {
  const { request } = proxy.url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const authority = `${target.hostname}:${target.port || "443"}`;
  return await new Promise((resolve, reject) => {
    const connecting = request(proxy.url, {
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...(proxy.authorization !== null && { "proxy-authorization": proxy.authorization }) },
      agent: false,
      timeout: timeoutMs,
    });
    connecting.once("timeout", () =>
      connecting.destroy(new ProxyError(`the proxy ${nameProxy(proxy)} did not answer in time`, true)),
    );
    connecting.once("error", (error) => reject(error instanceof ProxyError ? error : unreachableProxy(proxy, error)));
    connecting.once("connect", (response, socket: Socket) => {
      socket.setTimeout(0);
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      return reject(proxyRefusal(proxy, statusCode));
    });
    connecting.once("response", (response) => {
      response.destroy();
      reject(proxyRefusal(proxy, response.statusCode ?? 0));
    });
    connecting.end();
  });
}

function isAddress(host: string): boolean {
  return /^[\d.]+$/.test(host) || host.includes(":");
}
