/** A number per line of the input, in few bytes. */
export interface LineNumbers {
  /** 0 where none was set. */
  get(line: number): number;
  set(line: number, value: number): void;
  /** No line from this one on was set. */
  readonly end: number;
}

type NumberArray = Uint32Array | Uint8Array;

/** Lines in one chunk: growing never copies what is there, so nothing is held twice. */
const CHUNK = 64 * 1024;

export function createLineNumbers(Type: new (length: number) => NumberArray): LineNumbers {
  const chunks: NumberArray[] = [];
  return {
    get end() {
      return chunks.length * CHUNK;
    },
    get: (line) => chunks[Math.floor(line / CHUNK)]?.[line % CHUNK] ?? 0,
    set(line, value) {
      const index = Math.floor(line / CHUNK);
      while (chunks.length <= index) chunks.push(new Type(CHUNK));
      (chunks[index] as NumberArray)[line % CHUNK] = value;
    },
  };
}
