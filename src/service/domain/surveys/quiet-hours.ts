/** Hours without text messages. */

/** Hours of the wall clock, 0 to 23; across midnight when `from` is the later one. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

export function isQuiet(hour: number, { from, to }: QuietHours): boolean {
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to;
}
