import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { readDuration } from "../../../contract/text/duration.ts";
import { badValue, parseDuration, parseInteger, parseRateLimit } from "../../args/values.ts";
import type { Flags } from "../../args/flags.ts";
import type { Deps } from "../../kit/deps.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import type { FlagGroup } from "../../kit/flag-spec.ts";
import type { MetricsAddress, RunningServer } from "../../../service/run-server.ts";
import type { Log } from "../../../runtime/log.ts";
import type { Service } from "../../../service/service.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "../../../service/service-address.ts";
import type { ServiceOptions } from "../../../service/service-options.ts";
import { asDataFileError, asCliError } from "../../kit/data/data-file-errors.ts";
import {
  choosePlace,
  type DataPlace,
  dataPlace,
  type PlaceChoice,
  rejectRemoteFlags,
  showDatabase,
} from "../../kit/data/data-place.ts";
import {
  checkExposure,
  checkLinks,
  parseAddressAndPort,
  parseNetwork,
  parsePublicUrl,
  reachableUrl,
  readActivation,
  readTls,
  readToken,
  type TlsFiles,
} from "./address.ts";
import { MAIL_FLAGS, readMailSettings, readSendingRules } from "./mail.ts";
import { readSmsSettings, SMS_FLAGS } from "./sms.ts";
import { announce, firstKey, givenKey, warnOfKey, writeKeyFile } from "./first-key.ts";
import { checkLogin, LOGIN_FLAG, saveLogin } from "./login.ts";
import { createServeLog, LOG_FORMATS, type LogFormat, type ServeLog } from "./serve-log.ts";

type ServiceFlags = Omit<ServiceOptions, "dataFile" | "database" | "clock" | "random" | "log" | "metricsToken">;

interface ServeOptions extends TlsFiles {
  readonly data: PlaceChoice | null;
  readonly mustExist: boolean;
  readonly mayMigrate: boolean;
  readonly login: string | null;
  readonly host: string;
  readonly port: number;
  readonly insecureHttp: boolean;
  readonly metricsListen: MetricsAddress | null;
  readonly metricsTokenFile: string | null;
  /** If null, depends on whether stderr is a terminal. */
  readonly logFormat: LogFormat | null;
  readonly service: ServiceFlags;
}

async function runServe(deps: Deps, options: ServeOptions): Promise<ExitCode> {
  if (deps.options.dryRun) throw new UsageError("--dry-run: serve sends no requests that could be shown");
  const descriptor = readActivation(deps.env);
  const { publicUrl } = options.service;
  // The address of a socket that systemd passes isn't known yet.
  if (descriptor === null) checkExposure({ ...options, publicUrl });
  rejectRemoteFlags(deps, options);
  const place = await choosePlace(deps, options);
  if (options.mustExist && place.kind === "file") requireDataFile(place.dataFile);
  const dataFile = place.kind === "file" ? place.dataFile : showDatabase(place.url);
  checkOutlet(place, options);
  const tls = await readTls(options);
  const { metricsTokenFile: tokenFile } = options;
  const metricsToken = tokenFile === null ? null : await readToken("--metrics-token-file", tokenFile);
  const { clock, random, streams, signal } = deps;
  const { openService } = await import("../../../service/service.ts");
  const log = createServeLog(deps, options.logFormat);
  const rights = { mayMigrate: options.mayMigrate, mayCreate: !options.mustExist };
  // A new data file is created only after the profile name has been accepted.
  const isNew = place.kind === "file" && !existsSync(dataFile);
  const chosen = isNew ? await checkLogin(deps, log, { store: null, data: dataFile, name: options.login }) : null;
  const service = await asCliError(() =>
    openService({
      dataFile,
      database: place.kind === "file" ? null : { url: place.url, ...rights },
      clock,
      random,
      log,
      metricsToken,
      ...options.service,
    }),
  );
  const others = place.kind === "file" ? await otherServers(service) : [];
  const listening = { ...options, publicUrl, tls, descriptor };
  const server = await startServer(deps, service, listening);
  try {
    const { store } = service;
    const login = isNew ? chosen : await checkLogin(deps, log, { store, data: dataFile, name: options.login });
    // Creates the key only once the server is listening, because otherwise no one would ever see it.
    const key = await firstKey(deps, service);
    const url = publicUrl ?? (await reachableUrl(server.url, tls?.cert ?? null));
    // Scripts continue as soon as they see `listening on`, so the key must be saved before.
    const keyFile = key === null || !log.isJson ? null : await writeKeyFile(deps, keyPlace(place, options), key);
    const saved = key === null || login === null ? null : await saveLogin(deps, log, { ...login, url, key });
    await streams.out.write(`listening on ${server.url}\n`);
    await warnOfKey(deps, log, service);
    service.startLog({ isAnnounced: key !== null && keyFile === null && streams.err.isTTY });
    if (key !== null) await announce(deps, log, { data: dataFile, url, key, keyFile }, saved);
    logOtherServers(log, dataFile, others);
    logOutbox(log, dataFile, options.service);
    logMetricsAddress(log, server);
    await Promise.race([untilAborted(signal), service.store.lost]);
  } finally {
    await server.stop();
  }
  const lost = await Promise.race([service.store.lost, Promise.resolve(null)]);
  if (lost !== null) return endWith(await asDataFileError(lost), log);
  await writeStopped(deps, log);
  return EXIT.done;
}

function endWith(error: unknown, log: ServeLog): ExitCode {
  if (!log.isJson || !(error instanceof DataFileError)) throw error;
  log.error("stopped", { message: error.message });
  log.flush();
  return error.exit;
}

function keyPlace(place: DataPlace, { service: { outbox } }: ServeOptions): string {
  return path.resolve(place.kind === "file" ? place.dataFile : path.join(path.dirname(outbox ?? "."), "surveyctl"));
}

/** A mistyped path, an unmounted folder or an empty file must not become a new service. */
function requireDataFile(dataFile: string): void {
  if ((statSync(dataFile, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const hint = "mount it or correct the path; without --must-exist, serve creates one";
  throw new DataFileError("no_data_file", `there is no data file ${dataFile}`, { hint, exit: EXIT.usage });
}

function checkOutlet({ kind }: DataPlace, { service: { outbox, mail } }: ServeOptions): void {
  if (kind === "database" && outbox === null && mail === null)
    throw new UsageError("--database requires --outbox DIR or --smtp URL: messages need a place to go");
}

interface Address extends ServeOptions {
  readonly publicUrl: string | null;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly descriptor: number | null;
}

async function startServer(deps: Deps, service: Service, address: Address): Promise<RunningServer> {
  const { runServer } = await import("../../../service/run-server.ts");
  try {
    await asCliError(() => service.checkOutbox());
    // Refuses a bad SURVEYCTL_API_KEY before the server listens.
    if (givenKey(deps) !== null) await firstKey(deps, service);
    return await runServer(service, {
      ...address,
      metrics: address.metricsListen,
      check: (host) => checkExposure({ ...address, host }),
    });
  } catch (error) {
    await service.close();
    throw asAddressError(error, address);
  }
}

function asAddressError(error: unknown, options: Pick<ServeOptions, "host" | "port">): unknown {
  const {
    code,
    address: host = options.host,
    port = options.port,
  } = error as NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use by another process`,
    EACCES: `permission denied for port ${port} of ${host}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine`,
    ENOTFOUND: `${host} is not an address of this machine`,
  };
  const message = typeof code === "string" ? reasons[code] : undefined;
  return message === undefined
    ? error
    : new DataFileError("cannot_listen", message, { hint: "use --port 0 for a free port", cause: error });
}

async function otherServers({ store }: Service): Promise<readonly string[]> {
  const { livingProcesses } = await import("../../../service/sending/heartbeat.ts");
  return asCliError(() => livingProcesses(store));
}

/** Sharing a file is allowed, but a second server may be a mistake. */
function logOtherServers(log: Log, file: string, processes: readonly string[]): void {
  if (processes.length === 0) return;
  const names = processes.map((name) => name.split(":", 2).join(":")).join(", ");
  const message = `${file} is also served by ${names}, or was within the last 30 seconds; the servers share the work`;
  log.warn("also_served", { file, processes: processes.length, message });
}

/** Users may be waiting for an email that was written to a file instead. */
function logOutbox(log: Log, dataFile: string, { mail, outbox }: ServiceFlags): void {
  if (mail !== null) return;
  const folder = outbox ?? path.join(path.dirname(dataFile), "outbox");
  const message = `no mail server: surveys become files in ${folder}; serve --smtp URL sends them`;
  log.info("no_mail_server", { folder, message });
}

function logMetricsAddress(log: Log, { metricsUrl }: RunningServer): void {
  if (metricsUrl !== null)
    log.info("metrics_listening", { url: metricsUrl, message: `metrics on ${metricsUrl}/metrics` });
}

async function writeStopped({ streams, options }: Deps, log: ServeLog): Promise<void> {
  if (streams.err.isTTY && !log.isJson && !options.quiet) return streams.err.write("Stopped.\n");
  log.info("stopped", {});
  log.flush();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const SENDING = {
  records: [...MAIL_FLAGS, ...SMS_FLAGS],
  read: async (flags: Flags, deps: Deps) => {
    const mail = await readMailSettings(deps, flags);
    const sms = await readSmsSettings(deps, flags);
    return { ...mail, sms, ...readSendingRules(flags, mail.mail !== null || sms !== null) };
  },
} satisfies FlagGroup;

const serve = defineCommand({
  examples: ["surveyctl serve --data survey.db --login", "surveyctl serve --data survey.db --port 0 --rate-limit 10/s"],
  exits: [EXIT.done, EXIT.failed],
  flags: {
    data: dataPlace("data file, created if it does not exist"),
    mustExist: { text: "refuse to create a data file, or a service in an empty database" },
    login: LOGIN_FLAG,
    noMigrate: { text: "refuse a database with an older schema instead of updating it" },
    outbox: { value: "folder", text: "folder for messages that are not sent" },
    host: { value: "address", text: "address to listen on", default: DEFAULT_HOST },
    port: {
      value: "number",
      text: "port to listen on; 0 for a free one",
      default: `${DEFAULT_PORT}`,
      parse: (text, place) => parseInteger(text, place, { min: 0, max: 65_535 }),
    },
    publicUrl: {
      value: "url",
      text: "URL of the service as clients see it, such as a proxy's; required to send links",
      parse: parsePublicUrl,
    },
    isLocal: {
      flag: "--local-links",
      text: "make links in messages point to this machine, to try things out",
      conflicts: ["--public-url"],
    },
    proxies: {
      flag: "--trust-proxy",
      value: "address",
      text: "address or network of a proxy that sends X-Forwarded-For",
      repeatable: true,
      otherwise: "this machine, with --public-url",
      parse: parseNetwork,
    },
    rateLimit: { value: "limit", text: "maximum requests per key, such as 10/s or 600/m", parse: parseRateLimit },
    outboxKeepSeconds: {
      flag: "--outbox-keep",
      value: "duration",
      text: "how long to keep messages in outbox/; off keeps them forever",
      default: "30d",
      parse: parseKeep,
    },
    answerWindowSeconds: {
      flag: "--answer-window",
      value: "duration",
      text: "how long people can change an answer on its page",
      default: "30d",
      parse: parseDuration,
    },
    sending: SENDING,
    tlsCert: { value: "file", text: "TLS certificate chain (PEM)" },
    tlsKey: { value: "file", text: "private key of the certificate (PEM)" },
    metricsListen: {
      value: "address",
      text: "also serve /metrics at this address, such as 127.0.0.1:9464",
      parse: parseAddressAndPort,
    },
    metricsTokenFile: { value: "file", text: "file with a bearer token that lets other machines read /metrics" },
    logFormat: {
      value: "format",
      text: "format of the log on stderr",
      choices: LOG_FORMATS,
      otherwise: "json; on a terminal none, text with -v",
    },
  },
  run: (deps, { sending, isLocal, proxies, noMigrate, ...options }) => {
    const { outbox, publicUrl, rateLimit, outboxKeepSeconds, answerWindowSeconds, ...listening } = options;
    const { mail, sms } = sending;
    const isTexting = sms !== null && sms.mode === "link" && sms.linkUrl === null;
    checkLinks(publicUrl, { isLocal, isMailing: mail !== null, isTexting });
    const trustedProxies = proxies.length === 0 ? null : proxies;
    const limits = { rateLimit, outboxKeepSeconds, answerWindowSeconds, trustedProxies };
    return runServe(deps, {
      ...listening,
      mayMigrate: !noMigrate,
      insecureHttp: deps.options.insecureHttp,
      service: { outbox, publicUrl, ...limits, ...sending },
    });
  },
});

export const commands = [serve];

function parseKeep(text: string, place: string): number | null {
  if (text === "off") return null;
  const seconds = readDuration(text);
  if (seconds === null || seconds === 0) throw badValue(place, text, "a duration such as 30d or 12h, or off");
  return seconds;
}
