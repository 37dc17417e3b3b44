import type { Command } from "commander";
import type { KeyedProvider, SigningGateway } from "../../../../service/domain/delivery/hook-secrets.ts";
import { INCOMING_FORMS } from "../../../../service/delivery/sms/providers/providers.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { readFlagFile } from "../../../args/text-file.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { serviceVerb } from "../project-verb.ts";
import { SMS_HOOK } from "../service-resources.ts";

/** Such as `--twilio-token`. */
const KEY_FLAGS = [...INCOMING_FORMS].map(([name, { key }]): KeyFlag<SigningGateway> => ({
  name,
  record: { flag: `--${name}-${key.name}`, value: "file", text: `file with ${key.title}` },
  problem: key.problem,
}));

export function registerSms(parent: Command, context: CommandContext): void {
  const noun = parent.command("sms").description("text messages that people send");
  serviceVerb(context, noun, {
    kind: "sms.hook",
    name: "hook",
    summary: "print the URL for incoming text messages; an empty file name clears a key",
    examples: [
      "surveyctl service sms hook --data survey.db",
      "surveyctl service sms hook --twilio-token token.txt --rotate --json",
    ],
    flags: [
      { flag: "--rotate", text: "create a new secret; the previous URL stops working" },
      ...KEY_FLAGS.map(({ record }) => record),
    ],
    columns: SMS_HOOK,
    details: async ({ flags }) => ({ rotate: flags.is("--rotate"), keys: await readKeys(flags, KEY_FLAGS) }),
    done: (_, { flags }) => (flags.is("--rotate") ? "The previous URL no longer works." : null),
    notes: ({ url }) => (url.startsWith("https://") ? [] : [HTTPS_NOTE]),
  });
}

export const HTTPS_NOTE =
  "providers need an https:// URL; start serve with --public-url once, then run this command again";

/** A flag that names the file with a provider's key. */
export interface KeyFlag<Name extends KeyedProvider | SigningGateway> {
  readonly name: Name;
  readonly record: FlagRecord;
  /** The end of a sentence about the key; null for a sound one. */
  readonly problem: (key: string) => string | null;
}

/** The keys in the files that these flags name, by gateway or provider. Throws UsageError. */
export async function readKeys<Name extends KeyedProvider | SigningGateway>(
  flags: Flags,
  keyFlags: readonly KeyFlag<Name>[],
): Promise<{ readonly [Each in Name]?: string }> {
  const given: [Name, string][] = [];
  for (const { name, record, problem } of keyFlags) {
    const { flag } = record;
    const file = flags.text(flag);
    if (file === null) continue;
    const key = file === "" ? "" : await readKeyFile(flag, file);
    const fault = key === "" ? null : problem(key);
    if (fault !== null) throw new UsageError(`${flag}: ${file} ${fault}`);
    given.push([name, key]);
  }
  return Object.fromEntries(given) as { readonly [Each in Name]?: string };
}

/** One line of a file, without the space around it. Throws UsageError. */
async function readKeyFile(flag: string, file: string): Promise<string> {
  const text = await readFlagFile(flag, file);
  if (text.trim() === "") throw new UsageError(`${flag}: ${file} is empty`);
  return text.trim();
}
