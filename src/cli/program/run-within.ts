import type { GlobalOptions } from "../args/global-options.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { helpText } from "../help/help.ts";
import type { Input, Streams } from "../streams/streams.ts";
import { type Call, readCommandLine } from "./command-line.ts";
import { reportError } from "./report-error.ts";

const NOTHING: Input = {
  isTTY: false,
  bytes: async function* bytes() {},
  ask: () => Promise.reject(new Error("no terminal to ask on")),
};

export async function runWithin(
  words: readonly string[],
  { streams: { out, err }, keys }: { readonly streams: Pick<Streams, "out" | "err">; readonly keys: Iterable<string> },
  invoke: (call: Call, streams: Streams) => Promise<ExitCode>,
): Promise<ExitCode> {
  const streams: Streams = { in: NOTHING, out, err };
  try {
    if (words[0] === "help") {
      await out.write(await helpText(words.slice(1), out.columns));
      return EXIT.done;
    }
    const line = await readCommandLine(words);
    if (line.kind === "call") return await invoke(line.call, streams);
    await out.write(line.text);
    return EXIT.done;
  } catch (error) {
    return reportError(error, streams, { json: false, verbose: false, keys: [...keys] });
  }
}

/** The connection's flags go before the first flag, because nothing after `--` is a flag. */
export function overSameConnection(words: readonly string[], options: GlobalOptions): readonly string[] {
  const { profile, baseUrl, insecureHttp, timeZone } = options;
  const connection = [
    ...(profile === null ? [] : [`--profile=${profile}`]),
    ...(baseUrl === null ? [] : [`--base-url=${baseUrl}`]),
    ...(timeZone === null ? [] : [`--tz=${timeZone}`]),
    ...(insecureHttp ? ["--insecure-http"] : []),
  ];
  if (words[0] === "help") return words;
  const at = words.findIndex((word) => word.startsWith("-"));
  return at < 0 ? [...words, ...connection] : [...words.slice(0, at), ...connection, ...words.slice(at)];
}
