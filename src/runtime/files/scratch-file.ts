import { open, unlink } from "node:fs/promises";
import path from "node:path";
import { TEMPORARY_SUFFIX } from "./file-replacement.ts";

/** If the system allows it, the file has no name, so that nothing is left after a kill -9. */
export interface ScratchFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Chunks share one buffer. Call it only after everything has been written. */
  read(start: number, length: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;
const FILE_MODE = 0o600;

export async function openScratchFile(folder: string, token: string): Promise<ScratchFile> {
  const name = path.join(folder, `surveyctl.${token}${TEMPORARY_SUFFIX}`);
  const handle = await open(name, "wx+", FILE_MODE);
  const unlinked = await unlink(name).then(
    () => true,
    () => false,
  );
  return {
    write: (bytes) => handle.writeFile(bytes),
    async *read(start, length) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const end = start + length;
      for (let position = start; position < end;) {
        const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, end - position), position);
        if (bytesRead === 0) throw new Error(`${name} is shorter than what was written to it`);
        position += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
    },
    async close() {
      await handle.close();
      if (!unlinked) await unlink(name).catch(() => {});
    },
  };
}
