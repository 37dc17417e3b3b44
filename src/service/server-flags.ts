/** Flags of `serve` that are stored with the data, because commands on the same data need them. */
import type { Log } from "../runtime/log.ts";
import type { Store } from "./domain/ports.ts";
import { keepQuietHours } from "./domain/surveys/autopilot/autopilot-settings.ts";
import type { QuietHours } from "./domain/windows/windows.ts";
import type { ServiceOptions } from "./service-options.ts";
import { keepMark } from "./store/sql/store-marks.ts";

export async function keepFlags(
  store: Store,
  { log, sender, dailyLimit = null, sms = null }: ServiceOptions,
  onError: (error: unknown) => void,
): Promise<void> {
  await keepMark(store, "bounce address", sender?.bounceAddress ?? null).catch(onError);
  await keepDailyLimit(store, dailyLimit).catch(onError);
  if (sms !== null) await followQuietHours(store, log, sms.limits.quiet).catch(onError);
}

async function keepDailyLimit(store: Store, limit: number | null): Promise<void> {
  if ((await store.read((tx) => tx.senders.state("daily limit"))) === limit) return;
  await store.write((tx) => tx.senders.setDailyLimit(limit), { project: "none" });
}

async function followQuietHours(store: Store, log: Log, quiet: QuietHours | null): Promise<void> {
  const { closed, zoneless } = await keepQuietHours(store, quiet);
  for (const project of closed) {
    const message = `Autopilot of project ${project} sends no texts: all hours of its window are quiet hours`;
    log.warn("window_closed", { project, message });
  }
  const projects = zoneless.join(", ");
  const message = `no time zone is set for project ${projects}: its days and hours are UTC`;
  if (projects !== "") log.warn("no_time_zone", { projects, message });
}
