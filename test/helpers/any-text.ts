import { type Arbitrary, integer, string } from "fast-check";

const [HALVES, HALVES_COUNT, CODES] = [0xd800, 0x800, 0x11_0000];
/** Any code point except surrogates. */
const character = integer({ min: 0, max: CODES - HALVES_COUNT - 1 }).map((code) =>
  String.fromCodePoint(code < HALVES ? code : code + HALVES_COUNT),
);

/** fast-check's `unit: "binary"` indexes a million code points first, which takes 1.2 s per arbitrary. */
export const anyText: Arbitrary<string> = string({ unit: character });
