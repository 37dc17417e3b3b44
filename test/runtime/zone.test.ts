import { expect, test } from "vitest";
import { createWallClock, createWallParts } from "../../src/runtime/zone.ts";

/** When the clocks of a zone change, some within an hour of UTC. */
const CHANGES: readonly [zone: string, at: number][] = [
  ["Europe/Berlin", Date.UTC(2026, 9, 25, 1) / 1000],
  ["Australia/Lord_Howe", Date.UTC(2026, 3, 4, 15) / 1000],
  ["Asia/Kathmandu", Date.UTC(1985, 11, 31, 18, 30) / 1000],
  ["Africa/Monrovia", Date.UTC(1972, 0, 7, 0, 44, 30) / 1000],
];

test.each(CHANGES)("the wall clock of %s is right around a change, whatever was asked before", (zone, at) => {
  const [wallClock, read] = [createWallClock(zone), createWallParts(zone)];
  for (const away of [-7200, 3599, -3600, -1800, -1, 0, 1, 1800, 3600, -1])
    expect(wallClock(at + away)).toBe(toWall(read(at + away)));
  expect(wallClock(at)).not.toBe(wallClock(at - 1) + 1);
  expect(wallClock(Infinity)).toBe(Infinity);
});

function toWall([year, month, ...rest]: ReturnType<ReturnType<typeof createWallParts>>): number {
  return Date.UTC(year, month - 1, ...rest) / 1000;
}
