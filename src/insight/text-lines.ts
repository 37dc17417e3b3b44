/** Asked for places from first to last: the line of each, from 1. */
export function createLineCounter(text: string): (at: number) => number {
  let [line, end] = [1, text.indexOf("\n")];
  return (at) => {
    for (; end !== -1 && end < at; end = text.indexOf("\n", end + 1)) line += 1;
    return line;
  };
}
