import type { Client } from "../../client/client.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { NameResolver } from "../../runtime/name-resolver.ts";
import type { Random } from "../../runtime/random.ts";
import type { GlobalOptions } from "../args/global-options.ts";
import type { Streams } from "../streams/streams.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { SettingsRequest, Sourced } from "../../config/settings.ts";

/** Members that take long to load are functions. */
export interface Deps {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly commandLine: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly options: GlobalOptions;
  /** Aborted by SIGINT, SIGTERM or SIGHUP, or if stdout is closed. */
  readonly signal: AbortSignal;
  /** Printed if a second signal kills the process. */
  lastWords(text: string | null): void;
  hideKey(key: string): void;
  connect(): Promise<Connection>;
  names(): Promise<NameResolver>;
  /** Runs another command line on the same connection. Errors are written to `err`. */
  run(words: readonly string[], streams: Pick<Streams, "out" | "err">): Promise<ExitCode>;
}

export interface Connection {
  readonly client: Client;
  readonly profile: string | null;
  /** The base URL; for the profile `local`, the data file. */
  readonly place: string;
  /** Identifies the key in files kept between runs, such as an export's state. Empty for the profile `local`. */
  keyFingerprint(): Promise<string>;
  readonly retryCount: () => number;
  /** Called after the command has succeeded, for example to print notes. May throw. */
  onDone?(): Promise<void>;
  close(): Promise<void>;
}

export function settingsRequest({ env, platform, signal, options }: Deps): SettingsRequest {
  const { profile, baseUrl, insecureHttp } = options;
  return {
    env,
    platform,
    signal,
    flags: { profile: toSourced(profile, "--profile"), baseUrl: toSourced(baseUrl, "--base-url") },
    insecureHttp,
  };
}

function toSourced(value: string | null, source: string): Sourced<string> | null {
  return value === null ? null : { value, source };
}

export async function withClient<Result>(
  deps: Deps,
  work: (client: Client, connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await deps.connect();
  try {
    const result = await work(connection.client, connection);
    await connection.onDone?.();
    return result;
  } finally {
    await connection.close();
  }
}
