/** A data file that is not ours to open: another program's, a newer version's, or no database at all. */
export class StoreFileError extends Error {
  override readonly name = "StoreFileError";
}
