/** A service with an address: the public listener, the control channel beside it, and the order in which they end. */
import type { Exchange } from "../contract/http.ts";
import type { Clock } from "../runtime/clock.ts";
import { currentProcess } from "../runtime/files/processes.ts";
import type { Random } from "../runtime/random.ts";
import { createControlExchange } from "./control/control-channel.ts";
import { removeControlFile, writeControlFile } from "./control/control-file.ts";
import type { Face, ServerExchange } from "./http/create-http-service.ts";
import { HttpError } from "./http/replies.ts";
import { listen, type ListenOptions, type Listening } from "./http/server.ts";
import type { Service } from "./index.ts";

export interface ServerOptions extends ListenOptions {
  /** Null where the data is not in a file: commands then need no server to reach it. */
  readonly dataFile: string | null;
  readonly random: Random;
  readonly publicUrl: string | null;
  /** Where metrics and health are served besides; null for nowhere. Plain HTTP. */
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
  /** Finishes the delivery in hand, answers until then and what is in flight, and frees the data file. */
  stop(): Promise<void>;
}

const SECRET_BYTES = 32;
/** A client that neither ends its request nor goes away is cut off after this. */
const DRAIN_MS = 10_000;

/**
 * Listens, leaves the control file and starts delivering. Rejects with Node's own error when the port cannot be had.
 */
export async function runServer(service: Service, options: ServerOptions): Promise<RunningServer> {
  const { dataFile, random, publicUrl, metrics = null } = options;
  const { pid, started } = await currentProcess();
  const listener = await listen(service, options);
  const operators = await closingOnFailure([listener], async () =>
    metrics === null ? [] : [await listen(service.operators, { ...metrics, tls: null })],
  );
  const control = await closingOnFailure([listener, ...operators], async () => {
    if (dataFile === null) return null;
    const secret = random.token(SECRET_BYTES);
    const exchange = createControlExchange(secret, service.admin, service.handleLocally);
    const local = await listenLocally({ handle: readFirst(exchange, service.refuse), refuse: service.refuse });
    const record = { address: publicUrl ?? listener.url, control: local.url, pid, started, secret };
    await closingOnFailure([local], () => writeControlFile(dataFile, record, random.token(6)));
    return local;
  });
  await service.setAddress(listener.url);
  service.startScheduler();
  service.startWebhooks();
  return {
    url: listener.url,
    metricsUrl: operators[0]?.url ?? null,
    stop: async () => {
      service.setReady(false);
      try {
        try {
          // A mail in hand may take half a minute, in which people open links.
          await service.stopDelivering();
        } finally {
          await drain(control === null ? [listener] : [listener, control], service.clock);
        }
        if (dataFile !== null) await removeControlFile(dataFile);
      } finally {
        // Until here it says that the service is not ready.
        await drain(operators, service.clock);
        await service.close();
      }
    },
  };
}

function listenLocally(face: Face): Promise<Listening> {
  return listen(face, { host: "127.0.0.1", port: 0, tls: null });
}

/** For an exchange that needs the whole body. */
function readFirst(exchange: Exchange, refuse: Face["refuse"]): ServerExchange {
  return async ({ body, ...request }) => {
    try {
      const whole = typeof body === "function" ? await body() : body;
      return await exchange(whole === undefined ? request : { ...request, body: whole });
    } catch (error) {
      if (error instanceof HttpError) return refuse(error, request.method);
      throw error;
    }
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
