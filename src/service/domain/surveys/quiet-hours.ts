/** Wall-clock hours, 0 to 23; across midnight if `from` is later than `to`. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

export function isQuiet(hour: number, { from, to }: QuietHours): boolean {
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to;
}
