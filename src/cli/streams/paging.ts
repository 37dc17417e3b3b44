/** Long output through the pager that `SURVEYCTL_PAGER` or `PAGER` asks for, and only on a terminal. */
import type { Environment } from "./pager.ts";
import type { Streams } from "./streams.ts";

/** A shell command; null where no pager is asked for. `cat` asks for none. */
function pagerOf(env: Environment): string | null {
  const command = [env["SURVEYCTL_PAGER"], env["PAGER"]]
    .find((text) => text !== undefined && text.trim() !== "")
    ?.trim();
  return command === undefined || command === "cat" ? null : command;
}

/**
 * Work whose output may be long. The pager starts with the first output; what is said on stderr meanwhile comes when it
 * has gone. A pager that is left early ends the work as a closed pipe does. Throws UsageError when it cannot be run.
 */
export async function withPager<Result>(
  streams: Streams,
  env: Environment,
  work: (streams: Streams) => Promise<Result>,
): Promise<Result> {
  const command = streams.out.isTTY ? pagerOf(env) : null;
  if (command === null) return work(streams);
  const { createPager } = await import("./pager.ts");
  const pager = createPager(command, env);
  const held: (string | Uint8Array)[] = [];
  const { out, err } = streams;
  const paged: Streams = {
    in: streams.in,
    out: { isTTY: true, columns: out.columns, write: (text) => pager.write(text) },
    err: { isTTY: err.isTTY, columns: err.columns, write: async (text) => void held.push(text) },
  };
  try {
    return await work(paged);
  } finally {
    await pager.close();
    for (const text of held) await err.write(text);
  }
}
