import { DAY_SECONDS } from "../../runtime/zone.ts";
import { InvalidError } from "./errors.ts";

/** A future time would stay the newest until the clock catches up. Throws InvalidError. */
export function checkRecordedTime(name: string, at: number | null, now: number): void {
  if (at !== null && at > now + DAY_SECONDS) throw new InvalidError({ [name]: ["must not be more than a day ahead"] });
}
