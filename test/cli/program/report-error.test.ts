import { describe, expect, it } from "vitest";
import { AuthError, RateLimitedError, RefusedError, ServiceError } from "../../../src/client/errors/call-errors.ts";
import { TimeoutError } from "../../../src/client/errors/call-errors.ts";
import {
  ChangesFailedError,
  AssertionError,
  BegunError,
  InterruptedError,
  NothingFoundError,
} from "../../../src/cli/errors/command-errors.ts";
import { CancelledError, UsageError } from "../../../src/cli/errors/usage-error.ts";
import { type ErrorStyle, readErrorStyle, reportError } from "../../../src/cli/program/report-error.ts";
import { ConfigError } from "../../../src/config/config-error.ts";
import { UnwritableFileError } from "../../../src/runtime/files/file-replacement.ts";
import { fakeDeps, fakeTerminal } from "../../helpers/fake-deps.ts";

const PLAIN: ErrorStyle = { json: false, verbose: false, keys: [] };

async function told(
  error: unknown,
  style: Partial<ErrorStyle> = {},
): Promise<{ exit: number; err: string; out: string }> {
  const terminal = fakeTerminal(null);
  const exit = await reportError(error, terminal.streams, { ...PLAIN, ...style });
  return { exit, err: terminal.err(), out: terminal.out() };
}

function systemError(code: string, place: { path?: string; syscall: string }): Error {
  return Object.assign(new Error(`${code}: so it is, ${place.syscall}`), { code, ...place });
}

const call = { method: "GET", url: "https://a.example/v1/people.json" };
const at = (status: number): { call: typeof call; status: number; details: { message: string } } => ({
  call,
  status,
  details: { message: "so" },
});

describe("an error as it is told", () => {
  it.each<[string, unknown, number, string]>([
    ["a usage error", new UsageError("--limit: no", { hint: "try 5" }), 2, "error: --limit: no\nhint: try 5\n"],
    [
      "nothing configured",
      new ConfigError("missing", "no connection", { code: "connect" }),
      4,
      "error: no connection\nhint: connect to a service with: surveyctl auth login\n" +
        "      or try everything on this machine with: surveyctl --profile local …\n",
    ],
    [
      "several profiles and no default",
      new ConfigError("missing", "no default", { code: "choose_default", saved: ["a", "b"] }),
      4,
      "error: no default\nhint: choose one: surveyctl auth use NAME (a, b), or pass --profile NAME\n",
    ],
    [
      "a profile that is not saved, where one can be",
      new ConfigError("missing", "no prdo", {
        code: "unknown_profile",
        given: "prdo",
        known: ["prod", "local"],
        mayCreate: true,
      }),
      4,
      "error: no prdo\nhint: did you mean prod? available profiles: prod, local; " +
        "to create one: surveyctl auth login --profile prdo\n",
    ],
    [
      "no profile at all",
      new ConfigError("missing", "no x", {
        code: "unknown_profile",
        given: "x",
        known: [],
        mayCreate: false,
      }),
      4,
      "error: no x\nhint: create one with: surveyctl auth login\n",
    ],
    ["a bad setting", new ConfigError("invalid", "http://"), 2, "error: http://\n"],
    [
      "an unwritable target",
      new UnwritableFileError("cannot write x: permission denied"),
      2,
      "error: cannot write x: permission denied\n",
    ],
    [
      "an unwritable target after the first request",
      new BegunError(new UnwritableFileError("cannot write x: permission denied")),
      1,
      "error: cannot write x: permission denied\n",
    ],
    ["a usage error after the first request", new BegunError(new UsageError("no x")), 1, "error: no x\n"],
    [
      "a refused key after the first request",
      new BegunError(new AuthError("refused", at(401))),
      4,
      "error: refused\nhint: surveyctl auth status shows which key is used\n",
    ],
    ["nobody found", new NothingFoundError("nobody is ann"), 5, "error: nobody is ann\n"],
    ["an assertion", new AssertionError(["nps>=40 (nps is 12)"]), 6, "error: assertion failed: nps>=40 (nps is 12)\n"],
    ["SIGINT", new InterruptedError("SIGINT"), 130, "Interrupted.\n"],
    ["SIGTERM", new InterruptedError("SIGTERM"), 143, "Terminated.\n"],
    ["SIGHUP", new InterruptedError("SIGHUP"), 129, "Terminated: the terminal was closed.\n"],
    [
      "a refused key",
      new AuthError("refused", at(401)),
      4,
      "error: refused\nhint: surveyctl auth status shows which key is used\n",
    ],
    [
      "a forbidden call",
      new AuthError("refused", at(403)),
      4,
      "error: refused\nhint: surveyctl auth status shows which key is used\n",
    ],
    [
      "a refused request",
      new RefusedError("no", at(422)),
      5,
      "error: no\nhint: correct what the service names; nothing was changed\n",
    ],
    [
      "an unknown path",
      new RefusedError("the service answered 404", at(404)),
      5,
      "error: the service answered 404\nhint: is the base URL right? surveyctl auth status shows which one is used\n",
    ],
    [
      "a question that was declined",
      new CancelledError("Cancelled. Nothing was sent."),
      2,
      "Cancelled. Nothing was sent.\n",
    ],
    [
      "a failing service",
      new ServiceError("no", at(500)),
      1,
      "error: no\nhint: the fault is the service's: its log says more, and the same command may work later\n",
    ],
    [
      "a service that asks for a long wait",
      new ServiceError("no", { ...at(503), retryAfterMs: 400_000 }),
      1,
      "error: no\nhint: --max-wait allows longer waits\n",
    ],
    [
      "a request that took too long",
      new TimeoutError("slow", { call, sent: "maybe" }),
      1,
      `error: slow\nhint: --timeout sets how long to wait for an answer\n`,
    ],
    ["a connection that took too long", new TimeoutError("slow", { call, sent: "no" }), 1, `error: slow\n`],
    [
      "an endless 429",
      new RateLimitedError("slow", { ...at(429), retryAfterMs: null }),
      1,
      `error: slow\nhint: --rate keeps below the service's limit, --max-wait allows longer waits\n`,
    ],
    [
      "a missing file",
      systemError("ENOENT", { path: "a.csv", syscall: "open" }),
      2,
      "error: a.csv: no such file or directory\n",
    ],
    [
      "a forbidden file",
      systemError("EACCES", { path: "a.csv", syscall: "open" }),
      2,
      "error: a.csv: permission denied\n",
    ],
    [
      "a directory",
      systemError("EISDIR", { path: "a", syscall: "read" }),
      2,
      "error: a: it is a directory, not a file\n",
    ],
    ["a full disk", systemError("ENOSPC", { path: "a.csv", syscall: "write" }), 1, "error: a.csv: the disk is full\n"],
    [
      "a full disk behind stdout",
      systemError("ENOSPC", { syscall: "write" }),
      1,
      "error: writing the output: the disk is full\n",
    ],
    [
      "a name that is too long",
      systemError("ENAMETOOLONG", { path: "a.csv", syscall: "open" }),
      1,
      "error: a.csv: the name is too long\n",
    ],
    [
      "too many open files",
      systemError("EMFILE", { path: "a.csv", syscall: "open" }),
      1,
      "error: a.csv: too many files are open; ulimit -n sets how many may be\n",
    ],
    [
      "a current directory that is gone",
      systemError("ENOENT", { syscall: "uv_cwd" }),
      2,
      "error: the current directory: no such file or directory\n",
    ],
    ["a broken disk", systemError("EIO", { path: "a", syscall: "read" }), 1, "error: a: the disk reports an error\n"],
    [
      "another system error",
      systemError("EPROTO", { path: "a", syscall: "read" }),
      1,
      "error: EPROTO: so it is, read\n",
    ],
    [
      "a mistake of ours",
      new TypeError("x is not a function"),
      1,
      "error: x is not a function\nhint: this is a bug in surveyctl; --verbose shows the stack\n",
    ],
    [
      "a mistake of several lines",
      new Error("one\ntwo"),
      1,
      "error: one\nhint: this is a bug in surveyctl; --verbose shows the stack\n",
    ],
    ["what is no error", "boo", 1, "error: a value that is not an error was thrown: boo\n"],
  ])("when it is %s", async (_, error, exit, err) => {
    expect(await told(error)).toEqual({ exit, err, out: "" });
  });

  it("when JSON is asked for, then one line holds all five keys, null where empty", async () => {
    const { err } = await told(new UsageError("no"), { json: true });
    expect(err).toBe('{"error":{"code":"usage","message":"no","status":null,"details":null,"hint":null}}\n');
  });

  it("when a mistake of ours is told as JSON and its stack is asked for, then every line is JSON", async () => {
    const { err } = await told(new Error("broken"), { json: true, verbose: true });
    const lines = err.trimEnd().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([["error"], ["note"]]);
  });

  it("when more is asked for, then a refusal names its call", async () => {
    expect((await told(new RefusedError("no", at(410)), { verbose: true })).err).toBe(`error: no: GET ${call.url}\n`);
  });

  it("when the service spoke, then its status and words are in the JSON", async () => {
    const { err } = await told(new RefusedError("no", at(410)), { json: true });
    expect(JSON.parse(err.split("\n").at(-2) ?? "")).toEqual({
      error: { code: "refused", message: "no", status: 410, details: { message: "so" }, hint: null },
    });
  });

  it("when the words hold a key, then it is taken out, from the stack and the JSON too", async () => {
    const { err } = await told(new Error("sent k-123456 as ay0xMjM0NTY6"), {
      json: true,
      verbose: true,
      keys: ["k-123456"],
    });
    expect([err.includes("k-123456"), err.includes("ay0xMjM0NTY6"), err.split("[key removed]").length > 4]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("when the stack is asked for, then it is shown for mistakes of ours and not for what a user can mend", async () => {
    const [fault, refused] = [
      await told(new Error("broken"), { verbose: true }),
      await told(new UsageError("no"), { verbose: true }),
    ];
    expect([/^Error: broken\n {4}at /m.test(fault.err), refused.err]).toEqual([true, "error: no\n"]);
  });
});

describe("the style of errors, from words that may be wrong", () => {
  it.each<[string, Record<string, string>, boolean]>([
    ["people list", {}, false],
    ["people list --json --nonsense", {}, true],
    ["-o json", {}, true],
    ["-ojson", {}, true],
    ["-o=ndjson", {}, true],
    ["-qo json", {}, true],
    ["-vondjson", {}, true],
    ["-io=json", {}, true],
    ["-fo=json", {}, false],
    ["-o table -qo json", {}, true],
    ["--output ndjson", {}, true],
    ["--output=json", {}, true],
    ["--output json -o csv", {}, false],
    ["people list", { SURVEYCTL_OUTPUT: "json" }, true],
    ["-o table", { SURVEYCTL_OUTPUT: "json" }, false],
    ["--output", {}, false],
  ])("when it is %s with %j, then JSON is %j", (line, env, json) => {
    expect(readErrorStyle(line.split(" "), env).json).toBe(json);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ["people list", {}, false],
    ["people list -v", {}, true],
    ["-vv people", {}, true],
    ["-qv people", {}, true],
    ["--verbose", {}, true],
    ["people", { SURVEYCTL_DEBUG: "1" }, true],
    ["people", { SURVEYCTL_DEBUG: "0" }, false],
  ])("when it is %s with %j, then the stack is %j", (line, env, stack) => {
    expect(readErrorStyle(line.split(" "), env).verbose).toBe(stack);
  });

  it("when the environment holds a key, then it is kept out beside those that the command found", () => {
    expect(readErrorStyle([], { SURVEYCTL_API_KEY: "k-123456" }, { keys: ["k-from-the-profile"] }).keys).toEqual([
      "k-from-the-profile",
      "k-123456",
    ]);
  });

  it.each<[string, Record<string, string>, boolean, boolean]>([
    ["people list", {}, true, true],
    ["people list", {}, false, false],
    ["people list --no-color", {}, true, false],
    ["people list", { NO_COLOR: "1" }, true, false],
  ])("when it is %s with %j and a terminal is %j, then colour is %j", (line, env, isTTY, color) => {
    expect(readErrorStyle(line.split(" "), env, { isTTY }).color).toBe(color);
  });

  it("when there is colour, then the word error is red, and of a cancelled command nothing", async () => {
    const { deps, err } = fakeDeps({ width: 80 });
    const style = { json: false, verbose: false, keys: [], color: true };
    await reportError(new UsageError("no such flag"), deps.streams, style);
    await reportError(new CancelledError("Cancelled."), deps.streams, style);
    const failures = ["7", "8"].map((item) => ({ item, error: new NothingFoundError("it is gone") }));
    await reportError(new ChangesFailedError(failures, 3, null), deps.streams, style);
    const red = "\u001b[31merror:\u001b[39m";
    expect(err()).toBe(`${red} no such flag\nCancelled.\n${red} 7: it is gone\n${red} 8: it is gone\n`);
  });
});
