/** Measures how CPU time grows with the input. A ratio works on a busy machine too. */

const GROWTH = 32;
/** Minimum CPU time of the smaller input in milliseconds, for a meaningful ratio. */
const MEASURABLE_MS = 2;
const SIZE_MAX = 2 ** 21;

/**
 * Upper bound for linear work. Measured up to 14 × GROWTH because of memory and garbage collection; quadratic work
 * takes 32 × GROWTH or more.
 */
export const LINEAR_MAX = 20 * GROWTH;

/**
 * CPU time for 32 times the input, divided by that for the smaller input: about 32 if linear, about 1,000 if quadratic.
 * `work` gets a size in characters, which is doubled until the smaller input takes long enough.
 */
export function growthOf(work: (size: number) => void): number {
  let size = 128;
  // The first run includes compilation.
  work(size);
  while (cpuOf(() => work(size)) < MEASURABLE_MS && size * GROWTH < SIZE_MAX) size *= 2;
  return (
    leastOf(() => work(size * GROWTH)) /
    Math.max(
      leastOf(() => work(size)),
      MEASURABLE_MS / 2,
    )
  );
}

/** Minimum of three, because other load only makes a run longer. */
function leastOf(work: () => void): number {
  return Math.min(cpuOf(work), cpuOf(work), cpuOf(work));
}

function cpuOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  // Only the sum is exact; the kernel splits it by clock ticks.
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
