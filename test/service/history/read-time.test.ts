import { expect, it } from "vitest";
import { createTimeReader } from "../../../src/service/history/read-time.ts";

const read = createTimeReader("UTC");

it.each(["1769848200", 1_769_848_200, 1_769_848_200_000, "2026-01-31 08:30", "2026/01/31 08:30:00 UTC"])(
  "when a saved time is %j, then it is the moment",
  (value) => {
    expect(read(value)).toBe(1_769_848_200);
  },
);

it.each(["2026", "20260131", 20_260_131, "46053", 46_053, "46053.354"])(
  "when a saved time is %j, then it is a date in digits and no moment of 1970",
  (value) => {
    expect(read(value)).toBe(null);
  },
);
