/** Refused keys and operations: counted, and logged once a minute for each address and reason. */
import type { Clock } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { createCounter, type Family, writeFamily } from "../../../runtime/metrics.ts";

/** `key`: none, or not a good one; `access`: one that may not do this. */
type RefusalReason = "key" | "access";

export interface Refusals {
  readonly add: (reason: RefusalReason, address: string | undefined) => void;
  readonly metrics: () => readonly string[];
}

const REFUSED: Family = {
  name: "surveyctl_refused_total",
  type: "counter",
  help: "Requests refused for their key, or for what the key may not do.",
  labels: ["reason"],
};
const QUIET_MS = 60_000;
const REMEMBERED_MAX = 10_000;

export function createRefusals(log: Log, clock: Clock): Refusals {
  const refused = createCounter([["key"], ["access"]]);
  const loggedAtMs = new Map<string, number>();
  return {
    add: (reason, address = "local") => {
      refused.add([reason]);
      const now = clock.monotonic();
      const caller = `${reason} ${address}`;
      if (now - (loggedAtMs.get(caller) ?? -Infinity) < QUIET_MS) return;
      if (loggedAtMs.size >= REMEMBERED_MAX) loggedAtMs.clear();
      loggedAtMs.set(caller, now);
      log.warn("refused", { reason, ip: address });
    },
    metrics: () => writeFamily(REFUSED, refused.samples()),
  };
}
