import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import type { Origin } from "../../client/errors/client-error.ts";
import { Gate } from "../../client/gate/gate.ts";
import { proxyCredentials } from "../../client/transport/proxy.ts";
import { formatTrace, type TraceEvent } from "../../client/trace/trace.ts";
import { undiciTransport } from "../../client/transport/undici-transport.ts";
import { RETRY_LIMITS } from "../../client/call/retry-policy.ts";
import { localDataFile } from "../../config/places.ts";
import { LOCAL_PROFILE, type RemoteConnection, resolveConnection, usedProfile } from "../../config/settings.ts";
import type { Exchange } from "../../contract/http.ts";
import { makeFolder } from "../../runtime/files/make-folder.ts";
import { type GlobalOptions } from "../args/global-options.ts";
import { type Connection, type Deps, settingsRequest } from "./deps.ts";
import { toSafeText } from "../render/safe-text.ts";
import { asCliError } from "./data/data-file-errors.ts";
import { writeWarning } from "./notes.ts";
import { createWaitLines, type WaitLines } from "./wait-lines.ts";

export async function connect(deps: Deps): Promise<Connection> {
  const settings = await resolveConnection(settingsRequest(deps));
  return settings.kind === "local" ? connectLocally(deps) : connectRemotely(deps, settings);
}

async function connectRemotely(deps: Deps, settings: RemoteConnection): Promise<Connection> {
  const { baseUrl, apiKey, warning } = settings;
  if (warning !== null) await writeWarning(deps, warning);
  const waits = createWaitLines(deps);
  const origin = { baseUrl: baseUrl.source, apiKey: apiKey.source };
  const client = openClient(deps, { baseUrl: baseUrl.value, apiKey: apiKey.value, waits, origin });
  return {
    client,
    profile: usedProfile(settings),
    place: baseUrl.value,
    keyFingerprint: () => fingerprint(apiKey.value),
    retryCount: waits.retryCount,
    close: () => closeAll(client, waits),
  };
}

async function fingerprint(key: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

async function closeAll(client: Pick<Client, "close">, waits: WaitLines): Promise<void> {
  await waits.end();
  await client.close();
}

async function connectLocally(deps: Deps): Promise<Connection> {
  const path = await import("node:path");
  const { openLocal } = await import("../../service/data-file/local.ts");
  const dataFile = localDataFile(deps);
  await makeFolder(path.dirname(dataFile), 0o700);
  const local = await asCliError(() => openLocal({ dataFile, clock: deps.clock, random: deps.random }));
  const waits = createWaitLines(deps);
  const client = openClient(deps, { ...local, waits });
  return {
    client,
    profile: LOCAL_PROFILE,
    place: dataFile,
    keyFingerprint: async () => "",
    retryCount: waits.retryCount,
    close: () => closeAll(local, waits),
  };
}

interface Endpoint {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Defaults to a pool of sockets, which is closed along with the client. */
  readonly transport?: Exchange & { close?(): Promise<void> };
  readonly waits: WaitLines;
  readonly origin?: Origin;
  /** Takes precedence over a larger `--retries`, so that checking a connection is fast. */
  readonly retriesMax?: number;
}

export function openClient(deps: Deps, { waits, retriesMax = Infinity, ...endpoint }: Endpoint): Client {
  const { options, clock, random, env, streams } = deps;
  const { concurrency, ratePerSecond, timeoutMs, retries, maxWaitMs, settleMs } = options;
  const secrets = proxyCredentials(env);
  for (const secret of [endpoint.apiKey, ...secrets]) deps.hideKey(secret);
  const isInteractive = streams.err.isTTY && retries === null;
  const { transport = undiciTransport({ ...endpoint, env, timeoutMs, connections: concurrency, isInteractive }) } =
    endpoint;
  const trace = (event: TraceEvent): void => void streams.err.write(describeTrace(event, options));
  return createClient({
    ...endpoint,
    transport,
    secrets,
    clock,
    random,
    policy: {
      retries: Math.min(retries ?? RETRY_LIMITS.retries, retriesMax),
      ...(maxWaitMs !== null && { maxWaitMs }),
    },
    gate: new Gate({ clock, concurrency, ratePerSecond }),
    ...(options.verbosity > 0 && { trace }),
    ...(settleMs !== null && { settleMs }),
    onWait: waits.onWait,
  });
}

function describeTrace(event: TraceEvent, { verbosity, showPersonalData }: GlobalOptions): string {
  const lines = formatTrace(event, { bodies: verbosity > 1, showPersonalData });
  return lines.map((line) => `${toSafeText(line)}\n`).join("");
}
