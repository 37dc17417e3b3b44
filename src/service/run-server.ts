/** A service with an address: its listeners, and the order in which they end. */
import type { Clock } from "../runtime/clock.ts";
import { listen, type ListenOptions, type Listening } from "./http/server.ts";
import type { Service } from "./index.ts";

export interface ServerOptions extends ListenOptions {
  /** A further address for metrics and health; null for none. Plain HTTP. */
  readonly metrics?: MetricsAddress | null;
}

export interface MetricsAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface RunningServer {
  /** Scheme, host and port that it listens on. */
  readonly url: string;
  /** The same of the listener for metrics; null without one. */
  readonly metricsUrl: string | null;
  /** Finishes the delivery in progress, answers requests in flight until then, and frees the data file. */
  stop(): Promise<void>;
}

/** A client that neither ends its request nor goes away is cut off after this. */
const DRAIN_MS = 10_000;

/** Listens and starts delivering. Rejects with Node's own error when the port cannot be had. */
export async function runServer(service: Service, options: ServerOptions): Promise<RunningServer> {
  const { metrics = null } = options;
  const listener = await listen(service, options);
  const operators = await closingOnFailure([listener], async () =>
    metrics === null ? [] : [await listen(service.operators, { ...metrics, tls: null })],
  );
  await service.setAddress(listener.url);
  service.start();
  return {
    url: listener.url,
    metricsUrl: operators[0]?.url ?? null,
    stop: async () => {
      service.setReady(false);
      try {
        try {
          // A mail in progress may take half a minute, in which people open links.
          await service.stop();
        } finally {
          await drain([listener], service.clock);
        }
      } finally {
        // Until here it says that the service is not ready.
        await drain(operators, service.clock);
        await service.close();
      }
    },
  };
}

/** Without this a listener would keep the process alive after its start has failed. */
async function closingOnFailure<Result>(listeners: readonly Listening[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    for (const listener of listeners) await listener.close();
    throw error;
  }
}

async function drain(listeners: readonly Listening[], clock: Clock): Promise<void> {
  const done = new AbortController();
  const cut = async (): Promise<void> => {
    await clock.sleep(DRAIN_MS, done.signal);
    for (const listener of listeners) listener.cut();
  };
  // Rejects if every connection ended in time.
  void cut().catch(() => undefined);
  await Promise.all(listeners.map((listener) => listener.close()));
  done.abort();
}
