/** A compact array with one number per input line. */
export interface LineNumbers {
  get(line: number): number;
  set(line: number, value: number): void;
  readonly end: number;
}

type NumberArray = Uint32Array | Uint8Array;

/** Lines per chunk. Chunks are never copied, so growing needs no extra memory. */
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
