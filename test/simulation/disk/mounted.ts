/** The disk of the world that runs: the stand-ins for Node's functions have no other way to find it. */
import path from "node:path";
import { DISK_ROOT, type Disk, DiskError } from "./disk.ts";

const mounted: { disk: Disk | null; delay: () => Promise<void> } = { disk: null, delay: () => Promise.resolve() };

/** `delay` is how long a sync takes that others need not wait for. */
export function mount(disk: Disk, delay: () => Promise<void>): void {
  Object.assign(mounted, { disk, delay });
}

export function theDisk(): Disk {
  if (mounted.disk === null) throw new DiskError("EIO", "no disk is mounted");
  return mounted.disk;
}

export function takeTime(): Promise<void> {
  return mounted.delay();
}

/** Null for a path of the real machine. */
export function simulatedPath(name: unknown): string | null {
  const full = path.resolve(String(name));
  return full === DISK_ROOT || full.startsWith(`${DISK_ROOT}/`) ? full : null;
}
