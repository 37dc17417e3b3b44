// Prints results as `name measured limit ok|FAIL`, one per line.

/** Prints a measurement that must be at least `limit`. */
export function atLeast(name, measured, limit) {
  line(name, measured, `>= ${limit}`, measured >= limit);
}

/** Prints a measurement that must be at most `limit`. */
export function atMost(name, measured, limit) {
  line(name, measured, `<= ${limit}`, measured <= limit);
}

/** Prints a measurement without a limit. */
export function show(name, measured) {
  line(name, measured, "", true);
}

function line(name, measured, limit, holds) {
  const figure = measured >= 100 ? measured.toFixed(0) : measured.toFixed(2);
  console.log(`${name.padEnd(44)} ${figure.padStart(10)} ${limit.padStart(10)} ${holds ? "ok" : "FAIL"}`);
  if (!holds) process.exitCode = 1;
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}
