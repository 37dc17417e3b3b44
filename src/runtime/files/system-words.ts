/** What the operating system refuses, by its codes, in the words that all messages share. */
const SYSTEM_WORDS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EADDRINUSE", "the address is in use by another process"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file may not become larger"],
  ["EISDIR", "it is a directory, not a file"],
  ["EMFILE", "too many files are open; ulimit -n sets how many may be"],
  ["ENAMETOOLONG", "the name is too long"],
  ["ENOENT", "no such file or directory"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["EPERM", "operation not permitted"],
  ["EROFS", "the file system is read-only"],
]);

/** Null for a code that has no words here. */
export function wordsOfCode(code: string): string | null {
  return SYSTEM_WORDS.get(code) ?? null;
}

/** Of any error; one without words here keeps its message. */
export function wordsOfRefusal(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return wordsOfCode(code) ?? message;
}
