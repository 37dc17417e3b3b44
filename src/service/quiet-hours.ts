/** The quiet hours of a server's text messages, which are taken off Autopilot's windows for SMS. */
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../runtime/log.ts";
import type { Store } from "./domain/ports.ts";
import type { QuietHours } from "./domain/surveys/quiet-hours.ts";
import { isNeverOpen } from "./domain/surveys/windows.ts";
import { logClosedWindow } from "./service-log.ts";

/** Waiting texts follow changed hours, project by project. A window of which they leave nothing is warned of. */
export async function keepQuietHours(store: Store, log: Log, quiet: QuietHours | null): Promise<void> {
  const isNew = !isDeepStrictEqual(await store.read((tx) => tx.queue.quietHours()), quiet);
  if (isNew) await store.write((tx) => tx.queue.setQuietHours(quiet), { project: "none" });
  for (const { id, name } of await store.read((tx) => tx.projects.list())) {
    if (isNew) await store.write((tx) => tx.autopilot.reschedule(id, "sms"), { project: id });
    const { window } = await store.read((tx) => tx.autopilot.settings(id, "sms"));
    if (isNeverOpen(window)) logClosedWindow(log, name);
  }
}
