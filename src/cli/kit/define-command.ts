/** One declaration per command: its help, its flags and arguments with their types, and its work. */
import type { Command } from "commander";
import type { FlagRecord } from "../args/flag-record.ts";
import { UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import type { CommandContext, Operand } from "../command/command-context.ts";
import type { Deps } from "../command/deps.ts";
import { type FlagSpecs, isGroup, readFlag, type ValuesOf } from "./flag-spec.ts";

interface ArgSpec {
  /** `<id>` is required and `[id]` may be left out; `<id...>` and `[id...]` take several. */
  readonly form: `<${string}>` | `[${string}]`;
  readonly text: string;
  readonly choices?: readonly string[];
}

type ArgSpecs = Readonly<Record<string, ArgSpec>>;

/** Null for an argument that was left out. */
type ArgOf<Form extends string> = Form extends `${string}...${string}`
  ? readonly string[]
  : Form extends `<${string}`
    ? string
    : string | null;

type ArgsOf<Args extends ArgSpecs> = string extends keyof Args
  ? unknown
  : { readonly [Name in keyof Args]: ArgOf<Args[Name]["form"]> };

type FlagName = `--${string}`;

interface CommandSpec<Specs extends FlagSpecs, Args extends ArgSpecs> {
  /** Left out for a group that acts by itself, such as `metrics`. */
  readonly name?: string;
  readonly alias?: string;
  /** One sentence, without a full stop; the group's own if there is no name. */
  readonly summary?: string;
  /** Command lines to copy; two or more. */
  readonly examples: readonly string[];
  readonly args?: Args;
  /** No word after the first argument is a flag. */
  readonly flagsFirst?: boolean;
  /** In the order of help. */
  readonly flags?: Specs;
  /** The columns that `--columns` chooses from. */
  readonly columns?: Resource;
  /** Exit statuses besides usage errors. Defaults to those of a command that calls the API. */
  readonly exits?: readonly ExitCode[];
  /** At most one flag of each list may be given. */
  readonly conflicts?: readonly (readonly FlagName[])[];
  /** The first flag of each pair can only be used together with the second. */
  readonly requires?: readonly (readonly [FlagName, FlagName])[];
  /** Gets the parsed flags and arguments by their keys. Returns the exit status, 0 by default. */
  readonly run: (deps: Deps, input: ValuesOf<Specs> & ArgsOf<Args>) => Promise<ExitCode | void>;
}

/** Adds a command, or a group of them, to its parent. */
export type Definition = (parent: Command, context: CommandContext) => void;

const API_EXITS: readonly ExitCode[] = [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused];

export function defineCommand<const Specs extends FlagSpecs, const Args extends ArgSpecs>(
  spec: CommandSpec<Specs, Args>,
): Definition {
  const { name, summary = "", run, args, flags, conflicts = [], requires = [], exits = API_EXITS, ...facts } = spec;
  const operands = Object.values(args ?? {}).map(({ form, text, choices = [] }): Operand => [form, text, choices]);
  const records = Object.values(flags ?? {}).flatMap((one): readonly FlagRecord[] =>
    isGroup(one) ? one.records : [one],
  );
  const declared = { ...facts, exits, operands, flags: records };
  return (parent, context) => {
    const command =
      name === undefined ? context.describe(parent, declared) : context.verb(parent, { ...declared, name, summary });
    context.action(command, async (deps, given, words) => {
      for (const group of conflicts) rejectConflict(group.filter((flag) => given.has(flag)));
      for (const [flag, needed] of requires)
        if (given.has(flag) && !given.has(needed)) throw new UsageError(`${flag} requires ${needed}`);
      const values = Object.entries(flags ?? {}).map(([key, one]) => [key, readFlag(one, given, deps)] as const);
      const input = Object.fromEntries([...readArgs(args ?? {}, words), ...values]);
      return (await run(deps, input as ValuesOf<Specs> & ArgsOf<Args>)) ?? EXIT.done;
    });
  };
}

/** Throws UsageError for two flags that were both given. */
function rejectConflict([one, other]: readonly FlagName[]): void {
  if (one !== undefined && other !== undefined) throw new UsageError(`${one} and ${other} cannot be used together`);
}

function readArgs(args: ArgSpecs, words: readonly string[]): (readonly [string, unknown])[] {
  return Object.entries(args).map(([key, { form }], at) => [
    key,
    form.includes("...") ? words.slice(at) : (words[at] ?? null),
  ]);
}
