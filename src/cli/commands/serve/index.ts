import type { Command } from "commander";
import type { Flags } from "../../args/flags.ts";
import { parseInteger } from "../../args/numbers.ts";
import { parseRateLimit, type RequestLimit } from "../../args/rate-limit.ts";
import type { Deps } from "../../command/deps.ts";
import { DataFileError } from "../../errors/data-file-error.ts";
import { KEY_LENGTH_MIN } from "../../../contract/limits.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Log } from "../../../runtime/log.ts";
import type { RunningServer } from "../../../service/run-server.ts";
import type { Service } from "../../../service/index.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { inWords } from "../../command/data-file-words.ts";
import { writeWarning } from "../../command/notes.ts";
import { chooseDataFile } from "../service/data-file.ts";
import { checkExposure, parsePublicUrl, readTls, type TlsFiles } from "./address.ts";

export interface ServeOptions extends TlsFiles {
  readonly data: string | null;
  readonly host: string;
  readonly port: number;
  /** Without a slash at the end. */
  readonly publicUrl: string | null;
  readonly rateLimit: RequestLimit | null;
  /** Whether a server that others can reach may talk without TLS. */
  readonly insecureHttp: boolean;
}

/** Runs the service until a signal ends it, and then drains it. */
export async function runServe(deps: Deps, options: ServeOptions): Promise<ExitCode> {
  if (deps.options.dryRun) throw new UsageError("--dry-run: serve sends no requests that could be shown");
  checkExposure(options);
  const dataFile = chooseDataFile(deps, options);
  const tls = await readTls(options);
  const { clock, random, streams, signal } = deps;
  const { createLog } = await import("../../../runtime/log.ts");
  const { openService } = await import("../../../service/index.ts");
  const log = createLog((text) => void streams.err.write(text), clock);
  const { publicUrl, rateLimit } = options;
  const service = await inWords(() => openService({ dataFile, clock, random, log, publicUrl, rateLimit }));
  const server = await startServer(deps, service, { ...options, dataFile, tls });
  await warnOfShortKey(deps, log);
  try {
    // Only now: a key that was made for a server that could not listen would never be seen.
    await announce(deps, dataFile, publicUrl ?? server.url, await firstKey(deps, service));
    await streams.out.write(`listening on ${server.url}\n`);
    await untilAborted(signal);
  } finally {
    await server.stop();
  }
  return EXIT.done;
}

interface Address extends ServeOptions {
  readonly dataFile: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

async function startServer({ random }: Deps, service: Service, address: Address): Promise<RunningServer> {
  const { runServer } = await import("../../../service/run-server.ts");
  try {
    return await runServer(service, { ...address, random });
  } catch (error) {
    await service.close();
    throw inWordsOfAddress(error, address);
  }
}

function inWordsOfAddress(error: unknown, { host, port }: ServeOptions): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use by another process`,
    EACCES: `port ${port} of ${host} may not be used by this user`,
    EADDRNOTAVAIL: `${host} is no address of this machine`,
    ENOTFOUND: `${host} is no address of this machine`,
  };
  const message = typeof code === "string" ? reasons[code] : undefined;
  return message === undefined
    ? error
    : new DataFileError("cannot_listen", message, { hint: "--port 0 takes a free one", cause: error });
}

/** On a first start the key to print; null when there was one already, or the environment gave it. */
async function firstKey({ env, random }: Deps, { store }: Service): Promise<string | null> {
  const { ensureFirstKey } = await import("../../../service/first-project.ts");
  const { InvalidError } = await import("../../../service/domain/errors.ts");
  const given = env["SURVEYCTL_API_KEY"] ?? "";
  try {
    const key = await ensureFirstKey(store, random, given === "" ? null : given);
    return key === given ? null : key;
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error;
    throw new UsageError(`SURVEYCTL_API_KEY: ${error.message.replace(/^key /, "a key ")}`, { cause: error });
  }
}

async function announce({ streams }: Deps, dataFile: string, url: string, key: string | null): Promise<void> {
  if (key === null) return;
  const lines = [
    `made ${dataFile} with the project default; this is its key, shown only now:`,
    "",
    `  ${key}`,
    "",
    "type next, in another terminal:",
    "",
    `  printf %s '${key}' | surveyctl auth login --base-url ${url}`,
    "  surveyctl people add --email you@example.com",
    "",
  ];
  await streams.out.write(lines.map((line) => `${line}\n`).join(""));
}

/** A key of an older service may be short; it is accepted. To a person in a sentence, to a machine in the log. */
async function warnOfShortKey(deps: Deps, log: Log): Promise<void> {
  const { length } = deps.env["SURVEYCTL_API_KEY"] ?? "";
  if (length === 0 || length >= KEY_LENGTH_MIN) return;
  const message = `SURVEYCTL_API_KEY has fewer than ${KEY_LENGTH_MIN} characters and could be guessed`;
  if (deps.streams.err.isTTY) return writeWarning(deps, message);
  log.info("warning", { message });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export function register(noun: Command, context: CommandContext): void {
  const command = context.describe(noun, {
    examples: ["surveyctl serve --data survey.db", "surveyctl serve --data survey.db --port 0 --rate-limit 10/s"],
    exits: [EXIT.done, EXIT.failed],
  });
  command
    .option("--data <file>", "the data file, made when it does not exist (env SURVEYCTL_DATA)")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <number>", "the port to listen on; 0 takes a free one", "8080")
    .option("--public-url <url>", "where the service is seen from outside, as behind a proxy")
    .option("--rate-limit <limit>", "requests a key may make: 10/s, 600/m")
    .option("--tls-cert <file>", "certificate chain, PEM")
    .option("--tls-key <file>", "its private key, PEM");
  context.action(command, (deps, flags) => runServe(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): ServeOptions {
  return {
    data: flags.text("--data"),
    host: flags.text("--host") ?? "127.0.0.1",
    port: flags.parse("--port", (text, flag) => parseInteger(text, flag, { min: 0, max: 65_535 })) ?? 8080,
    publicUrl: flags.parse("--public-url", parsePublicUrl),
    rateLimit: flags.parse("--rate-limit", parseRateLimit),
    tlsCert: flags.text("--tls-cert"),
    tlsKey: flags.text("--tls-key"),
    insecureHttp: deps.options.insecureHttp,
  };
}
