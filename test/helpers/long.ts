/** How much a test of fuzz, kills or load does: little in `npm test`, all of it in `npm run test:long`. */

export const isLong = process.env.SURVEYCTL_TEST_LONG === "1";

export function size(short: number, long: number): number {
  return isLong ? long : short;
}
