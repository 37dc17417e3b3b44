/** Whether the time of some work is in proportion to its input: a ratio, since a busy machine stretches every clock. */

const GROWTH = 32;
/** Processor time that the smaller input takes at least, so that a ratio says something; milliseconds. */
const MEASURABLE_MS = 2;
const SIZE_MAX = 2 ** 21;

/**
 * `growthOf` stays below it for linear work, with twenty times to spare for memory and the garbage collector, which took
 * up to fourteen. Quadratic work is at 32 times, and pays the collector as well.
 */
export const LINEAR_MAX = 20 * GROWTH;

/**
 * Processor time for an input of 32 times the size, as a multiple of the time for the smaller one: about 32 for work in
 * proportion to its input, about 1,000 for work that is quadratic. `work` gets a size in characters. The smaller size is
 * doubled until it takes long enough to be measured.
 */
export function growthOf(work: (size: number) => void): number {
  let size = 128;
  // The first time is the compiler's.
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

/** Of three times: what else the machine does can only make one longer. */
function leastOf(work: () => void): number {
  return Math.min(cpuOf(work), cpuOf(work), cpuOf(work));
}

function cpuOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  // The system counts the sum exactly, and shares it out by its ticks: alone, either part is off by milliseconds.
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
