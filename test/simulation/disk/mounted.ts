/** The disk of the running world. It is global because the replacements of Node's functions get no other reference. */
import path from "node:path";
import { DISK_ROOT, type Disk, DiskError } from "./disk.ts";

const mounted: { disk: Disk | null; delay: () => Promise<void> } = { disk: null, delay: () => Promise.resolve() };

/** `delay` is how long a background sync takes. */
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

/** Null for paths of the real machine. */
export function simulatedPath(name: unknown): string | null {
  const full = path.resolve(String(name));
  return full === DISK_ROOT || full.startsWith(`${DISK_ROOT}/`) ? full : null;
}
