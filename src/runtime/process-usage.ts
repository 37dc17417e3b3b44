import { monitorEventLoopDelay, type IntervalHistogram } from "node:perf_hooks";

const RESOLUTION_MS = 20;

export function createUsageReader() {
  const state: { delay: IntervalHistogram | null } = { delay: null };
  return () => {
    const { user, system } = process.cpuUsage();
    return {
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      eventLoopLagSeconds: readLag(state),
    };
  };
}

/**
 * 99th percentile of timer delays since the last reading; 0 the first time. Node's histogram includes its own
 * resolution, which is subtracted.
 */
function readLag(state: { delay: IntervalHistogram | null }): number {
  const { delay } = state;
  if (delay === null) {
    state.delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    state.delay.enable();
    return 0;
  }
  const lag = delay.count === 0 ? 0 : delay.percentile(99) / 1e9 - RESOLUTION_MS / 1000;
  delay.reset();
  return Math.max(0, lag);
}
