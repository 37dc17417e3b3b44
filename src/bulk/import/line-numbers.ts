/** Numbers by line of the input, in the few bytes that each needs. */
export interface LineNumbers {
  /** 0 where none was set. */
  get(line: number): number;
  set(line: number, value: number): void;
}

type NumberArray = Float64Array | Uint32Array | Uint8Array;

const SMALLEST = 1024;
const GROWTH = 1.5;

export function createLineNumbers(Type: new (length: number) => NumberArray): LineNumbers {
  let numbers = new Type(SMALLEST);
  return {
    get: (line) => numbers[line] ?? 0,
    set(line, value) {
      if (line >= numbers.length) {
        const larger = new Type(Math.ceil(Math.max(line + 1, numbers.length * GROWTH)));
        larger.set(numbers);
        numbers = larger;
      }
      numbers[line] = value;
    },
  };
}
