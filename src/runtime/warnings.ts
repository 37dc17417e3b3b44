/** Runs `work` while Node's own warnings that hold `text` stay unprinted; all others are printed. */
export async function withoutWarning<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes(text)) Reflect.apply(emitWarning, undefined, [warning, ...rest]);
  };
  try {
    return await work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
