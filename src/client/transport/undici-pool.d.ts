// The pool alone loads in a third of the time of the whole package, and has no types of its own at this path.
declare module "undici/lib/dispatcher/pool.js" {
  interface Connected {
    (error: Error, socket: null): void;
    (error: null, socket: import("node:net").Socket): void;
  }

  interface ConnectTarget {
    readonly hostname: string;
    readonly host?: string | undefined;
    readonly protocol: string;
    readonly port: string;
    readonly servername?: string | null | undefined;
  }

  interface PoolOptions {
    readonly connect?: { readonly timeout: number } | ((target: ConnectTarget, connected: Connected) => void);
    readonly maxHeaderSize?: number;
    readonly headersTimeout?: number;
    readonly bodyTimeout?: number;
    readonly connections?: number | null;
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
      statusMessage?: string,
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
    constructor(origin: string, options: PoolOptions);
    dispatch(options: DispatchOptions, handler: DispatchHandler): boolean;
    close(): Promise<void>;
    destroy(): Promise<void>;
  }
}
