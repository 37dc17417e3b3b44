export function refuseOutsideWrite(isWriting: boolean): void {
  if (!isWriting) throw new Error("data can be changed only inside Store.write");
}

/** One of the engines would silently truncate text at U+0000. */
export function refuseNul(values: readonly unknown[]): void {
  for (const value of values)
    if (typeof value === "string" && value.includes("\0"))
      throw new RangeError("text with a null character cannot be stored");
}
