// Loading only the pool takes a third of the time of loading all of undici. This path has no types.
declare module "undici/lib/dispatcher/pool.js" {
  interface PoolOptions {
    readonly connect: { readonly timeout: number };
    readonly headersTimeout?: number;
    readonly bodyTimeout?: number;
    readonly connections?: number | null;
  }

  interface Tunnel {
    readonly statusCode: number;
    readonly socket: import("node:net").Socket;
  }

  interface Controller {
    abort(reason: Error): void;
    pause(): void;
    resume(): void;
  }

  interface DispatchHandler {
    onRequestStart(controller: Controller, context: unknown): void;
    onResponseStart(
      controller: Controller,
      status: number,
      headers: Readonly<Record<string, string | string[] | undefined>>,
    ): void;
    onResponseData(controller: Controller, chunk: Uint8Array): void;
    onResponseEnd(controller: Controller, trailers: unknown): void;
    onResponseError(controller: Controller | null, error: Error): void;
  }

  interface DispatchOptions {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Uint8Array | null;
  }

  export default class Pool {
    constructor(origin: string, options: Omit<PoolOptions, "connect"> & { readonly connect: object });
    dispatch(options: DispatchOptions, handler: DispatchHandler): boolean;
    close(): Promise<void>;
    destroy(): Promise<void>;
  }
}

declare module "undici/lib/api/api-connect.js" {
  export default function connect(
    this: object,
    request: object,
  ): Promise<{
    readonly statusCode: number;
    readonly socket: import("node:net").Socket;
  }>;
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  interface ProxyAgentOptions {
    readonly uri: string;
    readonly token?: string;
    readonly proxyTls: { readonly timeout: number };
    readonly requestTls: { readonly timeout: number };
    readonly clientFactory: (
      url: URL,
      options: { readonly connect: () => void },
    ) => {
      connect(request: object): Promise<object>;
      close(): Promise<void>;
      destroy(): Promise<void>;
    };
  }

  export default class ProxyAgent {
    constructor(options: ProxyAgentOptions);
    dispatch(options: object, handler: object): boolean;
    destroy(): Promise<void>;
  }
}
