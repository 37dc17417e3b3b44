/** The flags of a server that commands need: they often run next to it, and see nothing of its flags. */
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../runtime/log.ts";
import type { Store } from "./domain/ports.ts";
import type { QuietHours } from "./domain/surveys/quiet-hours.ts";
import { isNeverOpen } from "./domain/surveys/windows.ts";
import type { Base } from "./parts/base.ts";
import { logClosedWindow } from "./service-log.ts";

/** Keeps them in the store, with the address that the server has. */
export async function keepFlags({ store, log, address, sender, options, failures }: Base, url: string): Promise<void> {
  await address.listen(store, url).catch(failures.add);
  await keepBounceAddress(store, sender.bounceAddress).catch(failures.add);
  await keepDailyLimit(store, options.dailyLimit ?? null).catch(failures.add);
  const { sms = null } = options;
  if (sms !== null) await keepQuietHours(store, log, sms.limits.quiet).catch(failures.add);
}

async function keepBounceAddress(store: Store, bounceAddress: string | null): Promise<void> {
  if ((await store.read((tx) => tx.reports.bounceAddress())) === bounceAddress) return;
  await store.write((tx) => tx.reports.setBounceAddress(bounceAddress), { project: "none" });
}

async function keepDailyLimit(store: Store, limit: number | null): Promise<void> {
  if ((await store.read((tx) => tx.queue.dailyLimit())) === limit) return;
  await store.write((tx) => tx.queue.setDailyLimit(limit), { project: "none" });
}

/**
 * Quiet hours are taken off Autopilot's windows for SMS. Waiting texts follow changed hours, project by project. A
 * window of which they leave nothing is warned of.
 */
export async function keepQuietHours(store: Store, log: Log, quiet: QuietHours | null): Promise<void> {
  const isNew = !isDeepStrictEqual(await store.read((tx) => tx.queue.quietHours()), quiet);
  if (isNew) await store.write((tx) => tx.queue.setQuietHours(quiet), { project: "none" });
  for (const { id, name } of await store.read((tx) => tx.projects.list())) {
    if (isNew) await store.write((tx) => tx.autopilot.reschedule(id, "sms"), { project: id });
    const { window } = await store.read((tx) => tx.autopilot.settings(id, "sms"));
    if (isNeverOpen(window)) logClosedWindow(log, name);
  }
}
