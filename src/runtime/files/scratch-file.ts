import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { open, unlink, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { TEMPORARY_SUFFIX } from "./file-replacement.ts";

/** Lines put aside on disk. Where the system allows it the file has no name, so that not even kill -9 leaves it behind. */
export interface ScratchFile {
  /** Adds whole lines, each with its line feed. */
  write(lines: Uint8Array): Promise<void>;
  /** Every line from the first on; nothing may be written any more. */
  lines(): AsyncIterable<string>;
  close(): Promise<void>;
}

const PIECE_BYTES = 64 * 1024;
const FILE_MODE = 0o600;
const LINE_FEED = 10;

/** In `folder`; `token` makes its name unique. Throws the system's error. */
export async function openScratchFile(folder: string, token: string): Promise<ScratchFile> {
  const name = path.join(folder, `surveyctl.${token}${TEMPORARY_SUFFIX}`);
  const handle = await open(name, "wx+", FILE_MODE);
  const unlinked = await unlink(name).then(
    () => true,
    () => false,
  );
  return {
    write: (lines) => handle.writeFile(lines),
    lines: () => readLines(handle),
    async close() {
      await handle.close();
      if (!unlinked) await unlink(name).catch(() => {});
    },
  };
}

/** Cut as bytes, so that no text is longer than a line. */
async function* readLines(handle: FileHandle): AsyncGenerator<string> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let begun: Buffer[] = [];
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0 && end < bytesRead; end = piece.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...begun, piece.subarray(start, end)]).toString();
      begun = [];
      start = end + 1;
    }
    // Copied, since the piece is read into again.
    begun.push(Buffer.from(piece.subarray(start, bytesRead)));
  }
}

/** Bytes put aside on disk; the file is made with the first of them. */
export interface ScratchBytes {
  /** Returns where they begin. Throws the system's error. */
  append(bytes: Uint8Array): number;
  /** Fills `into` with what begins there. */
  read(into: Uint8Array, at: number): void;
  close(): void;
}

/** As `openScratchFile`, for work that does not wait. */
export function createScratchBytes(folder: string, token: string): ScratchBytes {
  const name = path.join(folder, `surveyctl.${token}${TEMPORARY_SUFFIX}`);
  const state: { file: number | null; size: number; isUnlinked: boolean } = { file: null, size: 0, isUnlinked: false };
  const unlinkFile = (): boolean => {
    try {
      unlinkSync(name);
      return true;
    } catch {
      return false;
    }
  };
  const openFile = (): number => {
    const file = openSync(name, "wx+", FILE_MODE);
    state.isUnlinked = unlinkFile();
    return file;
  };
  return {
    append(bytes) {
      const file = (state.file ??= openFile());
      const at = state.size;
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, at + done);
      state.size += bytes.length;
      return at;
    },
    read(into, at) {
      if (state.file === null) return;
      for (let done = 0; done < into.length;) {
        const count = readSync(state.file, into, done, into.length - done, at + done);
        if (count === 0) throw new Error(`${name} is shorter than what was written to it`);
        done += count;
      }
    },
    close() {
      if (state.file === null) return;
      closeSync(state.file);
      if (!state.isUnlinked) unlinkFile();
      state.file = null;
    },
  };
}
