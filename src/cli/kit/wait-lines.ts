/** On a terminal, retries and look-ups share a live line; otherwise each cause is printed once. */
import type { OnWait, Wait } from "../../client/trace/trace.ts";
import { toSafeText } from "../render/safe-text.ts";
import type { Deps } from "./deps.ts";
import type { LiveLine } from "./progress.ts";

export interface WaitLines {
  readonly onWait: OnWait;
  readonly retryCount: () => number;
  end(): Promise<void>;
}

export function createWaitLines({ streams, options }: Pick<Deps, "streams" | "options">): WaitLines {
  const causes = new Set<string>();
  const underWay = new Map<symbol, string>();
  let retries = 0;
  let live: Promise<LiveLine> | null = null;

  async function refresh(): Promise<void> {
    // Loaded late, because most commands never wait.
    live ??= import("./progress.ts").then(({ openLiveLine }) => openLiveLine(streams.err, options.color));
    const line = await live;
    const latest = [...underWay.values()].at(-1);
    if (latest === undefined) line.end();
    else line.show(latest);
  }

  function writeOnce(wait: Wait): void {
    if (causes.has(wait.cause)) return;
    causes.add(wait.cause);
    void streams.err.write(`${describeWait(wait)}\n`);
  }

  return {
    onWait: (wait) => {
      if (wait.kind === "retry") retries += 1;
      if (options.quiet || !wait.isNews) return undefined;
      if (!streams.err.isTTY) return writeOnce(wait);
      const key = Symbol("wait");
      underWay.set(key, describeWait(wait));
      void refresh();
      return () => {
        underWay.delete(key);
        void refresh();
      };
    },
    retryCount: () => retries,
    end: async () => (await live)?.end(),
  };
}

export function describeWait(wait: Wait): string {
  const time = describeTime(wait.waitMs);
  const next =
    wait.kind === "retry"
      ? `retrying in ${time} (${wait.repeat}/${wait.retries})`
      : `checking for up to ${time} whether the request arrived`;
  return toSafeText(`${wait.reason}; ${next}`);
}

function describeTime(ms: number): string {
  return ms < 10_000 ? `${Math.max(0.1, Math.ceil(ms / 100) / 10)} s` : `${Math.round(ms / 1000)} s`;
}
