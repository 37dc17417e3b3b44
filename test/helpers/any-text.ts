/** Text of any characters, for tests of properties. */
import { type Arbitrary, integer, string } from "fast-check";

const [HALVES, HALVES_COUNT, CODES] = [0xd800, 0x800, 0x11_0000];
/** Any code point but the halves of surrogate pairs. */
const character = integer({ min: 0, max: CODES - HALVES_COUNT - 1 }).map((code) =>
  String.fromCodePoint(code < HALVES ? code : code + HALVES_COUNT),
);

/** As fast-check's own `binary`, which numbers a million code points first: 1.2 s for each such arbitrary. */
export const anyText: Arbitrary<string> = string({ unit: character });
