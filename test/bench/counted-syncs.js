// Preloaded into a program to count its disk syncs. `SYNCS=none` skips them; the count goes to `SYNCS_FILE`.
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";

const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();

const { datasync } = prototype;
const leaveOut = process.env.SYNCS === "none";
let count = 0;
prototype.datasync = function counted() {
  count += 1;
  return leaveOut ? Promise.resolve() : datasync.call(this);
};
process.on("exit", () => writeFileSync(process.env.SYNCS_FILE, String(count)));
