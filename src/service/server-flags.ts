/** Flags of `serve` that commands next to it need, stored with the data. */
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../runtime/log.ts";
import type { Store } from "./domain/ports.ts";
import type { QuietHours } from "./domain/surveys/quiet-hours.ts";
import { readSettings } from "./domain/projects/settings.ts";
import { isNeverOpen } from "./domain/surveys/windows.ts";
import type { Base } from "./parts/base.ts";
import { logClosedWindow, logNoZone } from "./service-log.ts";

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
 * Removes quiet hours from Autopilot's SMS windows and moves waiting texts after a change. Warns of windows that never
 * open, and of projects without a time zone.
 */
export async function keepQuietHours(store: Store, log: Log, quiet: QuietHours | null): Promise<void> {
  const isNew = !isDeepStrictEqual(await store.read((tx) => tx.queue.quietHours()), quiet);
  if (isNew) await store.write((tx) => tx.queue.setQuietHours(quiet), { project: "none" });
  const projects = await store.read((tx) => tx.projects.list());
  const zoneless: string[] = [];
  for (const { id, name } of projects) {
    if ((await store.read((tx) => readSettings(tx, { id }))).timeZone === null) zoneless.push(name);
    if (isNew) await store.write((tx) => tx.autopilot.reschedule(id, "sms"), { project: id });
    const { window } = await store.read((tx) => tx.autopilot.settings(id, "sms"));
    if (isNeverOpen(window)) logClosedWindow(log, name);
  }
  if (zoneless.length > 0) logNoZone(log, zoneless);
}
