/** Size of slow tests: small in `npm test`, full in `npm run test:long`. */

export const isLong = process.env.SURVEYCTL_TEST_LONG === "1";

export function size(short: number, long: number): number {
  return isLong ? long : short;
}
