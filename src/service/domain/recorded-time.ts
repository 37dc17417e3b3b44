import { DAY_SECONDS } from "../../runtime/zone.ts";
import { InvalidError } from "./errors.ts";

/** Throws InvalidError for a time that would stay the newest until the clock catches up with it. */
export function checkRecordedTime(name: string, at: number | null, now: number): void {
  if (at !== null && at > now + DAY_SECONDS) throw new InvalidError({ [name]: ["must not be more than a day ahead"] });
}
