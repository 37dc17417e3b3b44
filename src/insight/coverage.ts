export interface Coverage {
  readonly isRunning: boolean;
  readonly isCut: boolean;
}

const MARK = "*";

export function isComplete({ isRunning, isCut }: Coverage): boolean {
  return !isRunning && !isCut;
}

export function markPeriod(label: string, coverage: Coverage): string {
  return isComplete(coverage) ? label : label + MARK;
}

/** Returns `* not over yet, or only partly within the range`; null if every period is complete. */
export function explainMark(periods: readonly Coverage[]): string | null {
  const meanings = [
    ...(periods.some(({ isRunning }) => isRunning) ? ["not over yet"] : []),
    ...(periods.some(({ isCut }) => isCut) ? ["only partly within the range"] : []),
  ];
  return meanings.length === 0 ? null : `${MARK} ${meanings.join(", or ")}`;
}
