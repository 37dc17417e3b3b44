/** In place of `service/store/sqlite/engine/file-owner.ts`: the simulated machine runs one process at a time. */
import { rm } from "node:fs/promises";
import type { Ownership } from "../../../src/service/store/sqlite/engine/file-owner.ts";

export async function ownFile(file: string): Promise<Ownership> {
  await rm(`${file}.lock`, { recursive: true, force: true });
  return { left: null, note: () => Promise.resolve(), release: () => Promise.resolve() };
}
