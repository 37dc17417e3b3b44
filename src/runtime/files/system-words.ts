const SYSTEM_WORDS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EADDRINUSE", "the address is in use by another process"],
  ["EAGAIN", "the system has no resources left for it now"],
  ["EBUSY", "it is in use, as a mounted file or folder is"],
  ["EDQUOT", "the disk quota is used up"],
  ["EEXIST", "it is there already"],
  ["EFBIG", "the file may not become larger"],
  ["EIO", "the disk reports an error"],
  ["EISDIR", "it is a directory, not a file"],
  ["ELOOP", "too many symbolic links lead on from it"],
  ["EMFILE", "too many files are open; ulimit -n sets how many may be"],
  ["ENAMETOOLONG", "the name is too long"],
  ["ENFILE", "too many files are open on this machine"],
  ["ENODEV", "there is no such device"],
  ["ENOENT", "no such file or directory"],
  ["ENOMEM", "the system has no memory left"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["ENOTEMPTY", "the folder is not empty"],
  ["ENOTSUP", "the file system does not support it"],
  ["ENXIO", "nothing is at the other end of it"],
  ["EPERM", "operation not permitted"],
  ["EROFS", "the file system is read-only"],
  ["ESTALE", "the network's file system has lost it"],
  ["ETXTBSY", "it is a program that runs"],
  ["EXDEV", "it is on another file system"],
]);

export function wordsOfCode(code: string): string | null {
  return SYSTEM_WORDS.get(code) ?? null;
}

export function systemErrorText(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return wordsOfCode(code) ?? message;
}
