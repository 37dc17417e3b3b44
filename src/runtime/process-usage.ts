import { monitorEventLoopDelay, type IntervalHistogram } from "node:perf_hooks";

const RESOLUTION_MS = 20;

export function createUsageReader() {
  let delay: IntervalHistogram | null = null;
  /** Node's histogram includes its own resolution, which is subtracted. The first reading is 0. */
  const readLag = (): number => {
    if (delay === null) {
      delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      delay.enable();
      return 0;
    }
    const lag = delay.count === 0 ? 0 : delay.percentile(99) / 1e9 - RESOLUTION_MS / 1000;
    delay.reset();
    return Math.max(0, lag);
  };
  return () => {
    const { user, system } = process.cpuUsage();
    return {
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      /** 99th percentile of timer delays since the last reading. */
      eventLoopLagSeconds: readLag(),
    };
  };
}
