/** Records when each key was last used, with at most one write per key and day. */
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { toIsoTime } from "../../contract/text/iso-time.ts";
import { DAY_SECONDS, utcDay } from "../../runtime/zone.ts";
import type { Project } from "../domain/inputs.ts";
import type { Store } from "../domain/ports.ts";

export interface UsedKey {
  readonly project: Project;
  readonly id: number;
  lastUsedOn: string | null;
}

/** In the background. A failed write is ignored: the next day brings another. */
export function createKeyUse(store: Store, clock: Clock): (key: UsedKey) => void {
  const today = { number: -1, text: "" };
  return (key) => {
    const number = utcDay(unixSeconds(clock));
    if (number !== today.number) Object.assign(today, { number, text: toIsoTime(number * DAY_SECONDS).slice(0, 10) });
    const { text } = today;
    if (key.lastUsedOn === text) return;
    key.lastUsedOn = text;
    store
      .write((tx) => tx.projects.setKeyUsed(key.project.id, key.id, text), { project: "none" })
      .catch(() => undefined);
  };
}
