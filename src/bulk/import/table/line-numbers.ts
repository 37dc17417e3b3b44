/** Numbers by line of the input, in the few bytes that each needs. */
export interface LineNumbers {
  /** 0 where none was set. */
  get(line: number): number;
  set(line: number, value: number): void;
  /** No line from this one on was set. */
  readonly end: number;
}

type NumberArray = Uint32Array | Uint8Array;

/** Lines in one piece: growing never copies what is there, so nothing is held twice. */
const PIECE = 64 * 1024;

export function createLineNumbers(Type: new (length: number) => NumberArray): LineNumbers {
  const pieces: NumberArray[] = [];
  return {
    get end() {
      return pieces.length * PIECE;
    },
    get: (line) => pieces[Math.floor(line / PIECE)]?.[line % PIECE] ?? 0,
    set(line, value) {
      const index = Math.floor(line / PIECE);
      while (pieces.length <= index) pieces.push(new Type(PIECE));
      (pieces[index] as NumberArray)[line % PIECE] = value;
    },
  };
}
