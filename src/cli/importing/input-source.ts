import { open, stat, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openInputFile, type InputFacts, type InputFile } from "../../bulk/import/table/input-file.ts";
import { readChunks } from "../../runtime/pipe-reader.ts";
import { unzipped } from "../../bulk/import/table/gzip.ts";
import type { Deps } from "../kit/deps.ts";
import { UsageError } from "../errors/usage-error.ts";

/** These files can't be opened if standard input is a socket. */
const STANDARD_INPUT: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]);

/** True for standard input and pipes, such as a shell's `<(…)`. */
export async function isReadOnce(name: string): Promise<boolean> {
  if (STANDARD_INPUT.has(name)) return true;
  const found = await stat(name).catch(() => null);
  return found !== null && !found.isFile() && !found.isDirectory();
}

type Form = Pick<InputFacts, "delimiter" | "encoding">;

/** `-` is standard input. Copies input that can be read only once to disk, and unpacks gzip. */
export async function openInput(deps: Deps, name: string, form: Form = { delimiter: null }): Promise<InputFile> {
  return unzipped(await openFile(deps, name, form));
}

async function openFile(deps: Deps, name: string, form: Form): Promise<InputFile> {
  const { in: standardInput } = deps.streams;
  if (STANDARD_INPUT.has(name)) {
    if (standardInput.isTTY) throw new UsageError("standard input is a terminal; pass a file, or pipe one in");
    return spool(deps, standardInput.bytes(), { name: "standard input", ...form });
  }
  if (await isReadOnce(name)) return spool(deps, readChunks(name, deps.signal), { name, ...form });
  const handle = await open(name, "r");
  if ((await handle.stat()).isDirectory()) {
    await handle.close();
    throw new UsageError(`${name} is a directory, not a file`);
  }
  return openInputFile(handle, { path: name, name: path.basename(name), ...form });
}

/** Unlinks the file immediately if possible, so that even a kill leaves no personal data behind. */
async function spool(
  { random }: Deps,
  chunks: AsyncIterable<Uint8Array>,
  input: Omit<InputFacts, "path">,
): Promise<InputFile> {
  const name = path.join(tmpdir(), `surveyctl-${random.token(9)}.input`);
  const handle = await open(name, "wx+", 0o600);
  const isUnlinked = await unlink(name).then(
    () => true,
    () => false,
  );
  const onClose = async (): Promise<void> => {
    if (!isUnlinked) await unlink(name).catch(() => undefined);
  };
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
    return await openInputFile(handle, { ...input, path: null, onClose });
  } catch (error) {
    await handle.close();
    await onClose();
    throw error;
  }
}
