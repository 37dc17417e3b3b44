import { systemClock } from "../../runtime/clock.ts";
import { systemRandom } from "../../runtime/random.ts";
import type { Flags } from "../args/flags.ts";
import { wantsColor, wantsJson } from "../args/environment.ts";
import { readGlobalOptions } from "../args/global-options.ts";
import { settleZone } from "../args/time.ts";
import type { Deps } from "../kit/deps.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Process } from "../process.ts";
import { ClosedPipeError, type Streams } from "../streams/streams.ts";
import { withPager } from "../streams/paging.ts";
import { createProcessStreams, toErrorText } from "../streams/process-streams.ts";
import { type Call, readCommandLine } from "./command-line.ts";
import type { QueryOutput } from "./query-output.ts";
import { type Lifetime, watchCrashes, watchSignals } from "./lifetime.ts";

export async function run(process: Process, args: readonly string[]): Promise<ExitCode> {
  // If both are set, Node warns and ignores NO_COLOR.
  if ((process.env["NO_COLOR"] ?? "") !== "") delete process.env["FORCE_COLOR"];
  const lifetime = watchSignals(process);
  const streams = createProcessStreams(process, {
    onOutputLost: (error) => lifetime.end(error),
    signal: lifetime.signal,
    jsonErrors: wantsJson(args, process.env),
  });
  const keys = new Set<string>();
  const report = async (error: unknown): Promise<ExitCode> => {
    const { readErrorStyle, reportError } = await import("./report-error.ts");
    return reportError(error, streams, readErrorStyle(args, process.env, { keys, isTTY: streams.err.isTTY }));
  };
  const crashes = watchCrashes(process, lifetime, report);
  try {
    const exit = await dispatch(process, { args, streams, lifetime, keys });
    // Pending output can still fail, for example on a full disk.
    await streams.flush();
    const crash = crashes.first();
    return crash === null ? exit : await report(crash.cause);
  } catch (error) {
    const cause = crashes.first()?.cause ?? stopReason(error, lifetime.signal);
    return cause instanceof ClosedPipeError ? EXIT.done : await report(cause);
  } finally {
    crashes.commandEnded();
    lifetime.release();
    await streams.leave();
  }
}

interface World {
  readonly args: readonly string[];
  readonly streams: Streams;
  readonly lifetime: Lifetime;
  readonly keys: Set<string>;
}

async function dispatch(process: Process, world: World): Promise<ExitCode> {
  const { args, streams } = world;
  if (args[0] === "help") {
    const { helpText } = await import("../help/help.ts");
    await writeHelp(process, world, await helpText(args.slice(1), streams.out.columns));
    return EXIT.done;
  }
  const line = await readCommandLine(args, { columns: streams.out.columns });
  if (line.kind === "call") return invoke(process, world, line.call);
  await writeHelp(process, world, line.text);
  return EXIT.done;
}

async function writeHelp({ env }: Process, { args, streams }: World, text: string): Promise<void> {
  const hasColor = !args.includes("--no-color") && wantsColor(env, streams.out.isTTY);
  const shown = hasColor ? (await import("../help/bold-headings.ts")).boldHeadings(text) : text;
  await withPager(streams, env, ({ out }) => out.write(shown));
}

async function invoke(process: Process, world: World, { action, flags, operands, ownFlags }: Call): Promise<ExitCode> {
  const { args, lifetime, keys } = world;
  const filter = await openFilter(flags, world.streams);
  const streams = filter === null ? world.streams : { ...world.streams, out: filter.out };
  await settleZone(process.env);
  const options = readGlobalOptions(flags, process.env, streams.out.isTTY, ownFlags);
  const deps: Deps = {
    streams,
    env: process.env,
    platform: process.platform,
    commandLine: process.argv.slice(2),
    clock: systemClock,
    random: systemRandom,
    options,
    signal: lifetime.signal,
    lastWords: (text) => lifetime.lastWords(text === null ? null : toErrorText(text, wantsJson(args, process.env))),
    hideKey: (key) => void keys.add(key),
    connect: async () => {
      const { connect } = await import("../kit/connect.ts");
      return connect(deps);
    },
    names: async () => {
      const { createNameResolver } = await import("../../runtime/name-resolver.ts");
      return createNameResolver();
    },
    run: async (words, own) => {
      const { runWithin, overSameConnection } = await import("./run-within.ts");
      const within = overSameConnection(words, options);
      return runWithin(within, { streams: own, keys }, (call, given) =>
        invoke(process, { ...world, args: within, streams: given }, call),
      );
    },
  };
  const exit = await action(deps, flags, operands).catch(async (error: unknown) => {
    await filter?.endFailed();
    throw error;
  });
  await filter?.end();
  return exit;
}

async function openFilter(flags: Flags, { out }: Streams): Promise<QueryOutput | null> {
  const expression = flags.text("--query");
  if (expression === null) return null;
  const { openQueryOutput } = await import("./query-output.ts");
  return openQueryOutput(expression, out);
}

function stopReason(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ClosedPipeError || !signal.aborted) return error;
  const isAbort =
    error === signal.reason ||
    (error instanceof Error && (error.name === "AbortError" || error.name === "AbortedError"));
  return isAbort || signal.reason instanceof ClosedPipeError ? signal.reason : error;
}
