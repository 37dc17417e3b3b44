import { ClientError } from "../../client/errors/client-error.ts";
import { AuthError, BadReplyError, RefusedError, ServiceError, TimeoutError } from "../../client/errors/call-errors.ts";
import { ConfigError, type ConfigAdvice, type UnknownProfile } from "../../config/config-error.ts";
import type { Json } from "../../contract/json.ts";
import { UnwritableFileError } from "../../runtime/files/file-replacement.ts";
import { UnreadableFileError } from "../../runtime/pipe-reader.ts";
import { wordsOfCode } from "../../runtime/files/system-words.ts";
import { suggest } from "../args/suggest.ts";
import { BegunError, ChangesFailedError } from "../errors/command-errors.ts";
import { CommandError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  /** HTTP status; null if there was no response. */
  readonly status: number | null;
  readonly details: Json;
  readonly hint: string | null;
  /** One line per failure; text output prints them instead of the message. */
  readonly each?: readonly string[];
  readonly exit: ExitCode;
}

/** An unknown error is a bug. With `verbose`, the message includes the method and URL of the call. */
export function describeError(error: unknown, verbose: boolean): ErrorReport {
  if (!(error instanceof Error))
    return report("internal", `a value that is not an error was thrown: ${String(error)}`, EXIT.failed);
  if (error instanceof BegunError) {
    const cause = describeError(error.cause, verbose);
    return { ...cause, exit: cause.exit === EXIT.usage ? EXIT.failed : cause.exit };
  }
  return (
    describeChanges(error, verbose) ??
    describeOwn(error) ??
    describeClient(error, verbose) ??
    describeSystem(error) ??
    report("internal", firstLine(error), EXIT.failed, {
      hint: "this is a bug in surveyctl; --verbose shows the stack",
    })
  );
}

/** An unexpected error's message can have several lines, or none. */
function firstLine({ message, name }: Error): string {
  return message.split("\n")[0] || name;
}

function report(code: string, message: string, exit: ExitCode, more: Partial<ErrorReport> = {}): ErrorReport {
  return { code, message, status: null, details: null, hint: null, exit, ...more };
}

function describeOwn(error: Error): ErrorReport | null {
  if (error instanceof CommandError) {
    const { code, message, exit, hint, details } = error;
    return report(code, message, exit, { hint, details });
  }
  if (error instanceof UnreadableFileError) return report("unreadable", `${error.file}: ${error.message}`, EXIT.usage);
  if (error instanceof UnwritableFileError) return report("unwritable", error.message, EXIT.usage);
  return error instanceof ConfigError ? describeConfig(error) : null;
}

const BY_SEVERITY: readonly ExitCode[] = [EXIT.auth, EXIT.failed, EXIT.refused, EXIT.partial];

function describeChanges(error: Error, verbose: boolean): ErrorReport | null {
  if (!(error instanceof ChangesFailedError)) return null;
  const failures = error.failures.map(({ item, error: cause }) => ({ item, ...describeError(cause, verbose) }));
  const exits = new Set(failures.map(({ exit }) => exit));
  const stop = error.stop === null ? null : describeError(error.stop, verbose);
  const exit = stop?.exit ?? BY_SEVERITY.find((each) => exits.has(each)) ?? EXIT.failed;
  return report("changes_failed", error.message, exit, {
    hint: stop?.hint ?? null,
    details: failures.map(({ item, code, message, status }) => ({ item, code, message, status })),
    each: failures.map(({ item, message }) => `${item}: ${message}`),
  });
}

function describeConfig({ problem, message, advice }: ConfigError): ErrorReport {
  const hint = advice === null ? null : adviseConfig(advice);
  return problem === "missing"
    ? report("not_configured", message, EXIT.auth, { hint })
    : report("bad_configuration", message, EXIT.usage, { hint });
}

const NEXT_STEPS =
  "connect to a service with: surveyctl auth login\nor try everything on this machine with: surveyctl --profile local …";

function adviseConfig(advice: ConfigAdvice): string {
  if (advice.code === "unknown_profile") return adviseProfile(advice);
  if (advice.code === "choose_default")
    return `choose one: surveyctl auth use NAME (${advice.saved.join(", ")}), or pass --profile NAME`;
  return CONFIG_ADVICE[advice.code];
}

const CONFIG_ADVICE = {
  allow_http: "--insecure-http allows it on a trusted network",
  connect: NEXT_STEPS,
  protect_file: "its file and folder must belong to you and be writable by you alone",
  repair_file: "fix or delete it, or run: surveyctl auth login",
  replace_key_command: "run it by itself to see what it prints; surveyctl auth login --key-command saves another",
  set_base_url: `set --base-url or SURVEYCTL_BASE_URL, or ${NEXT_STEPS}`,
  set_key: `set SURVEYCTL_API_KEY, or ${NEXT_STEPS}`,
  set_own_key: "set SURVEYCTL_API_KEY too, or choose another profile with --profile",
} as const;

function adviseProfile({ given, known, mayCreate }: UnknownProfile): string {
  if (known.length === 0) return "create one with: surveyctl auth login";
  const nearest = suggest(given, known);
  return [
    ...(nearest === null ? [] : [`did you mean ${nearest}? `]),
    `available profiles: ${known.join(", ")}`,
    ...(mayCreate ? [`; to create one: surveyctl auth login --profile ${given}`] : []),
  ].join("");
}

function describeClient(error: Error, verbose: boolean): ErrorReport | null {
  if (!(error instanceof ClientError)) return null;
  const { code, status, details } = error;
  const message = verbose ? error.message : error.what;
  const exit = error instanceof AuthError ? EXIT.auth : error instanceof RefusedError ? EXIT.refused : EXIT.failed;
  return { code, message, status, details, hint: advise(error), exit };
}

function advise(error: ClientError): string | null {
  const { tries, origin, hint } = error;
  const isKey = ABOUT_KEY.has(error.code);
  const source = isKey ? origin?.apiKey : ABOUT_ADDRESS.has(error.code) || isPage(error) ? origin?.baseUrl : undefined;
  const lines = [
    isPage(error) ? ADVICE.page : null,
    hint ?? nextStep(error),
    source === undefined ? null : `the ${isKey ? "key" : "base URL"} comes from ${source}`,
    tries > 1 ? `gave up after ${tries} tries` : null,
  ];
  return lines.filter((line) => line !== null).join("\n") || null;
}

const ABOUT_KEY: ReadonlySet<string> = new Set(["unauthorized", "forbidden", "read_only_key"]);
const ABOUT_ADDRESS: ReadonlySet<string> = new Set(["connection_failed", "not_found", "redirect_refused", "timeout"]);

/** True if a web page answered instead of the API. */
function isPage(error: ClientError): boolean {
  const reply = error instanceof BadReplyError ? error : error.cause;
  return reply instanceof BadReplyError && (/html/i.test(reply.contentType ?? "") || reply.preview.startsWith("<"));
}

/** The client knows nothing about flags and commands, so the advice is chosen by the error's code. */
function nextStep(error: ClientError): string | null {
  if (error instanceof ServiceError) return error.retryAfterMs === null ? ADVICE.service_failed : ADVICE.longer_wait;
  const timeout = error instanceof BadReplyError ? error.cause : error;
  if (timeout instanceof TimeoutError) return timeout.sent === "maybe" ? ADVICE.timeout : null;
  if (error.status === 400 || error.status === 422) return ADVICE.invalid;
  return Object.hasOwn(ADVICE, error.code) ? ADVICE[error.code as keyof typeof ADVICE] : null;
}

const ADVICE = {
  connection_failed: "surveyctl auth status shows which address is used, and why",
  forbidden: "surveyctl auth status shows which key is used",
  longer_wait: "--max-wait allows longer waits",
  not_found: "is the base URL right? surveyctl auth status shows which one is used",
  page: "this isn't the API; is the base URL right?",
  outcome_unknown: "check the service before you repeat it: a repeat may send a second survey or add a second response",
  read_only_key: "surveyctl auth status shows which key is used; surveyctl service key add makes another",
  rate_limited: "--rate keeps below the service's limit, --max-wait allows longer waits",
  invalid: "correct what the service names; nothing was changed",
  service_failed: "the fault is the service's: its log says more, and the same command may work later",
  timeout: "--timeout sets how long to wait for an answer",
  unauthorized: "surveyctl auth status shows which key is used",
} as const;

/** System errors for a wrong file name, which count as usage errors. */
const MISNAMED: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "EISDIR", "ENOTDIR", "EROFS"]);

const PLACES: ReadonlyMap<string, string> = new Map([
  ["write", "writing the output"],
  ["uv_cwd", "the current directory"],
]);

function describeSystem(error: Error): ErrorReport | null {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return null;
  const words = wordsOfCode(code);
  const place = path ?? PLACES.get(syscall) ?? syscall;
  return report(
    code.toLowerCase(),
    words === null ? error.message : `${place}: ${words}`,
    MISNAMED.has(code) ? EXIT.usage : EXIT.failed,
  );
}
