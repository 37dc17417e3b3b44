import type { Client } from "../../client/client.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { NameResolver } from "../../runtime/name-resolver.ts";
import type { Random } from "../../runtime/random.ts";
import type { GlobalOptions } from "../args/global-options.ts";
import type { Streams } from "../streams/streams.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { SettingsRequest, Sourced } from "../../config/settings.ts";

/** Things that commands may ask for; costly members are functions and cost nothing until called. */
export interface Deps {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** The words after the program's name, as they were typed. */
  readonly commandLine: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  /** The shared flags, parsed; flag before environment before default. */
  readonly options: GlobalOptions;
  /** Aborted on SIGINT, SIGTERM, SIGHUP and when stdout's reader is gone. */
  readonly signal: AbortSignal;
  /** Full lines for stderr when a second signal ends the process at once; null for none. */
  lastWords(text: string | null): void;
  /** Removes the key, in each of its forms, from all errors that follow. */
  hideKey(key: string): void;
  /** The connection that flags, environment and profile name; throws the error that exits 4 when there is none. */
  connect(): Promise<Connection>;
  names(): Promise<NameResolver>;
  /** Runs another command line over the same connection, with nothing to read; errors are told on `err`. */
  run(words: readonly string[], streams: Pick<Streams, "out" | "err">): Promise<ExitCode>;
}

export interface Connection {
  readonly client: Client;
  /** The name of the profile that it comes from; null where it comes from none. */
  readonly profile?: string | null;
  /** Tells one account from another, for what is kept between runs (the state of an export). */
  readonly account?: Account;
  /** Requests that had to be sent again so far: for the summary of bulk work. */
  readonly retryCount?: () => number;
  /** Called once the work has succeeded; what it throws is the error of the work. */
  onDone?(): Promise<void>;
  /** Ends the pool and, for the profile `local`, the embedded service; called once, also after an error. */
  close(): Promise<void>;
}

interface Account {
  /** The base URL; for the profile `local`, the data file. */
  readonly place: string;
  /** A short hash of the key, never the key; empty for the profile `local`. */
  keyFingerprint(): Promise<string>;
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
