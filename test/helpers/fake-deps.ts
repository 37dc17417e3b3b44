/** Dependencies of a command without a terminal, network or clock; output is returned as text. */
import type { Client } from "../../src/client/client.ts";
import type { GlobalOptions } from "../../src/cli/args/global-options.ts";
import type { Deps } from "../../src/cli/kit/deps.ts";
import type { Streams } from "../../src/cli/streams/streams.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { NameResolver } from "../../src/runtime/name-resolver.ts";

export const DEFAULT_OPTIONS: GlobalOptions = {
  profile: null,
  baseUrl: null,
  output: null,
  json: false,
  query: null,
  columns: null,
  time: null,
  timeZone: "UTC",
  excel: false,
  timeoutMs: null,
  retries: null,
  maxWaitMs: null,
  settleMs: null,
  concurrency: 8,
  ratePerSecond: null,
  insecureHttp: false,
  quiet: false,
  verbosity: 0,
  showPersonalData: false,
  color: false,
  unicode: true,
  dryRun: false,
};

export interface FakeTerminal {
  readonly streams: Streams;
  readonly out: () => string;
  readonly err: () => string;
  readonly asked: string[];
}

/** `width` makes all three streams terminals; null makes them pipes. `answers` are typed in order. */
export function fakeTerminal(width: number | null, answers: readonly string[] = []): FakeTerminal {
  const written = { out: "", err: "" };
  const asked: string[] = [];
  const left = [...answers];
  const output = (name: "out" | "err") => ({
    isTTY: width !== null,
    columns: width ?? 80,
    async write(text: string | Uint8Array): Promise<void> {
      written[name] += typeof text === "string" ? text : new TextDecoder().decode(text);
    },
  });
  const input = {
    isTTY: width !== null,
    async *bytes(): AsyncGenerator<Uint8Array> {},
    async ask(prompt: string): Promise<string> {
      asked.push(prompt);
      const answer = left.shift();
      if (answer === undefined) throw new Error(`nobody answers "${prompt}"`);
      return answer;
    },
  };
  return {
    streams: { in: input, out: output("out"), err: output("err") },
    out: () => written.out,
    err: () => written.err,
    asked,
  };
}

/** 2026-02-01T12:00:00Z. */
export const NOW = 1_769_947_200;

export function fixedClock(seconds: number = NOW): Clock {
  return { now: () => seconds * 1000, monotonic: () => 0, sleep: async () => {} };
}

export interface FakeDeps extends FakeTerminal {
  readonly deps: Deps;
}

export interface FakeOptions {
  readonly width?: number | null;
  readonly answers?: readonly string[];
  readonly options?: Partial<GlobalOptions>;
  readonly client?: Partial<Client>;
  readonly now?: number;
  readonly names?: NameResolver;
}

export function fakeDeps({ width = null, answers, options, client, now, names }: FakeOptions = {}): FakeDeps {
  const terminal = fakeTerminal(width, answers);
  const deps: Deps = {
    streams: terminal.streams,
    env: {},
    platform: "linux",
    commandLine: [],
    clock: fixedClock(now),
    random: { fraction: () => 0.5, token: (bytes) => "t".repeat(bytes) },
    options: { ...DEFAULT_OPTIONS, ...options },
    signal: new AbortController().signal,
    lastWords: () => {},
    hideKey: () => {},
    async connect() {
      if (client === undefined) throw new Error("the command connected");
      return {
        client: { checkMayWrite: () => undefined, ...client } as Client,
        profile: null,
        place: client.baseUrl ?? "",
        keyFingerprint: async () => "",
        retryCount: () => 0,
        close: async () => {},
      };
    },
    async names() {
      if (names === undefined) throw new Error("the command asked DNS");
      return names;
    },
    run: () => Promise.reject(new Error("the command ran another one")),
  };
  return { ...terminal, deps };
}
