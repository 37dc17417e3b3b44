/** `{ out: "r.csv", gzip: true }` becomes `--out r.csv --gzip`. */
export type FlagWords = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

export function flagWords(flags: FlagWords): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    if (value === false || value === null || value === undefined) return [];
    if (value === true) return [`--${name}`];
    return [value].flat().flatMap((each) => [`--${name}`, String(each)]);
  });
}
