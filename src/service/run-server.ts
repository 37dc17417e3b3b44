import { type Clock, withTimeout } from "../runtime/clock.ts";
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
  stop(): Promise<void>;
}

/** How long to wait for clients that neither finish their request nor disconnect. */
const DRAIN_MS = 10_000;

/** Rejects with Node's error if the port isn't available. */
export async function runServer(service: Service, options: ServerOptions): Promise<RunningServer> {
  const { metrics = null } = options;
  const listener = await listen(service, options);
  const operators = metrics === null ? null : await openOperators(service, metrics, listener);
  await service.setAddress(listener.url);
  service.start();
  return {
    url: listener.url,
    metricsUrl: operators?.url ?? null,
    stop: async () => {
      service.setReady(false);
      try {
        try {
          // The listener still serves meanwhile: a message in progress can take half a minute, and people still open
          // links.
          await service.stop();
        } finally {
          await drain(listener, service.clock);
        }
      } finally {
        // Closes this listener last, so that `/readyz` can report that the server is draining.
        if (operators !== null) await drain(operators, service.clock);
        await service.close();
      }
    },
  };
}

async function openOperators(service: Service, metrics: MetricsAddress, listener: Listening): Promise<Listening> {
  try {
    return await listen(service.operators, { ...metrics, tls: null });
  } catch (error) {
    // An open listener would keep the process alive.
    await listener.close();
    throw error;
  }
}

async function drain(listener: Listening, clock: Clock): Promise<void> {
  const closed = listener.close().then(() => true);
  if (!(await withTimeout(clock, DRAIN_MS, closed, false))) listener.cut();
  await closed;
}
