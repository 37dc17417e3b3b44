/** Flags of `serve` that commands next to it need, stored with the data. */
import type { Log } from "../runtime/log.ts";
import type { Store } from "./domain/ports.ts";
import { keepQuietHours } from "./domain/surveys/autopilot/autopilot-settings.ts";
import type { QuietHours } from "./domain/surveys/quiet-hours.ts";
import type { Base } from "./parts/base.ts";
import { logClosedWindow, logNoZone } from "./service-log.ts";

export async function keepFlags({ store, log, address, sender, options, failures }: Base, url: string): Promise<void> {
  await address.listen(store, url).catch(failures.add);
  await keepBounceAddress(store, sender.bounceAddress).catch(failures.add);
  await keepDailyLimit(store, options.dailyLimit ?? null).catch(failures.add);
  const { sms = null } = options;
  if (sms !== null) await followQuietHours(store, log, sms.limits.quiet).catch(failures.add);
}

async function keepBounceAddress(store: Store, bounceAddress: string | null): Promise<void> {
  if ((await store.read((tx) => tx.reports.bounceAddress())) === bounceAddress) return;
  await store.write((tx) => tx.reports.setBounceAddress(bounceAddress), { project: "none" });
}

async function keepDailyLimit(store: Store, limit: number | null): Promise<void> {
  if ((await store.read((tx) => tx.queue.dailyLimit())) === limit) return;
  await store.write((tx) => tx.queue.setDailyLimit(limit), { project: "none" });
}

async function followQuietHours(store: Store, log: Log, quiet: QuietHours | null): Promise<void> {
  const { closed, zoneless } = await keepQuietHours(store, quiet);
  for (const name of closed) logClosedWindow(log, name);
  if (zoneless.length > 0) logNoZone(log, zoneless);
}
