import type { FlagRecord } from "../../../args/flag-record.ts";
import { readFlagFile } from "../../../args/text-file.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";

export const HTTPS_NOTE =
  "providers need an https:// URL; start serve with --public-url once, then run this command again";

interface KeyFlag<Name extends string> {
  readonly name: Name;
  readonly flag: FlagRecord["flag"];
  readonly text: string;
}

/**
 * Defines a flag for each provider's key, which is read from a file. An empty file name clears the key. `findProblem`
 * returns what is wrong with a key, worded as the end of a sentence, or null.
 */
export function keyFlags<Name extends string>(
  findProblem: (name: Name, key: string) => Promise<string | null>,
  flags: readonly KeyFlag<Name>[],
): FlagGroup<Promise<{ readonly [Each in Name]?: string }>> {
  return {
    records: flags.map(({ flag, text }) => ({ flag, value: "file", text })),
    read: async (given) => {
      const keys: [Name, string][] = [];
      for (const { name, flag } of flags) {
        const file = given.text(flag);
        if (file === null) continue;
        const key = file === "" ? "" : await readKeyFile(flag, file);
        const fault = key === "" ? null : await findProblem(name, key);
        if (fault !== null) throw new UsageError(`${flag}: ${file} ${fault}`);
        keys.push([name, key]);
      }
      return Object.fromEntries(keys) as { readonly [Each in Name]?: string };
    },
  };
}

async function readKeyFile(flag: string, file: string): Promise<string> {
  const text = await readFlagFile(flag, file);
  if (text.trim() === "") throw new UsageError(`${flag}: ${file} is empty`);
  return text.trim();
}
