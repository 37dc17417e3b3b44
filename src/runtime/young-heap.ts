import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** So large the space for new objects may become; a page of rows and its text need a twentieth of it. */
const ENOUGH_BYTES = 8 * 1024 * 1024;

/**
 * Keeps the space for new objects from growing beyond what streaming rows needs: V8 lets it grow to 48 MB, which gains
 * nothing for objects that die at once. Call the result now and then; it costs nothing once the space is large enough.
 */
export function createYoungHeapLimit(): () => void {
  let limited = false;
  return () => {
    if (limited) return;
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    limited = (space?.space_size ?? 0) >= ENOUGH_BYTES;
    if (limited) setFlagsFromString("--semi-space-growth-factor=1");
  };
}
