import type { Clock } from "../runtime/clock.ts";
import { listen, type ListenOptions, type Listening } from "./http/server.ts";
import type { Service } from "./service.ts";

export interface ServerOptions extends ListenOptions {
  readonly metrics?: MetricsAddress | null;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export interface RunningServer {
  readonly url: string;
  readonly metricsUrl: string | null;
  /** Lets the delivery and requests in progress finish, then closes the data file. */
  stop(): Promise<void>;
}

/** How long to wait for clients that neither finish their request nor disconnect. */
const DRAIN_MS = 10_000;

/** Rejects with Node's error if the port isn't available. */
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
          // A message in progress may take half a minute, and people still open links.
          await service.stop();
        } finally {
          await drain([listener], service.clock);
        }
      } finally {
        // Until now, `/readyz` has reported that the server is draining.
        await drain(operators, service.clock);
        await service.close();
      }
    },
  };
}

/** After a failed start, an open listener would keep the process alive. */
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
  // The sleep rejects if all connections ended in time.
  void cut().catch(() => undefined);
  await Promise.all(listeners.map((listener) => listener.close()));
  done.abort();
}
