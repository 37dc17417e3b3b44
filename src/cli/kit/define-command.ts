import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { ParsedOf } from "../args/flag-record.ts";
import { type Resource, selectColumns } from "../render/columns.ts";
import type { Deps } from "./deps.ts";
import type { CommandNode, Operand } from "./command-node.ts";
import { type FlagSpecs, readFlags, readValue, recordsOf, type ValueSpec, type ValuesOf } from "./flag-spec.ts";

interface ArgSpec extends ValueSpec {
  /** `<id>` is required, `[id]` is optional; `<id...>` and `[id...]` take several. */
  readonly form: `<${string}>` | `[${string}]`;
  readonly text: string;
}

export type ArgSpecs = Readonly<Record<string, ArgSpec>>;

type ArgOf<Spec extends ArgSpec> = Spec["form"] extends `${string}...${string}`
  ? readonly ParsedOf<Spec>[]
  : Spec["form"] extends `<${string}`
    ? ParsedOf<Spec>
    : ParsedOf<Spec> | null;

export type ArgsOf<Args extends ArgSpecs> = string extends keyof Args
  ? unknown
  : { readonly [Name in keyof Args]: ArgOf<Args[Name]> };

type FlagName = `--${string}`;

interface CommandSpec<Specs extends FlagSpecs, Args extends ArgSpecs> {
  /** Omitted for a group's own action, such as `metrics`. */
  readonly name?: string;
  readonly alias?: string;
  /** No full stop at the end. Defaults to the group's summary if there is no name. */
  readonly summary?: string;
  readonly about?: CommandNode["about"];
  /** At least two command lines. */
  readonly examples: readonly string[];
  readonly args?: Args;
  /** If true, nothing after the first argument is a flag. */
  readonly flagsFirst?: boolean;
  readonly flags?: Specs;
  /** If `--columns` names others, nothing is done. */
  readonly columns?: Resource;
  /** The columns depend on other flags, so `run` checks `--columns`. */
  readonly columnsVary?: boolean;
  readonly operation?: string;
  /** Exit statuses other than for usage errors. Defaults to those of a command that calls the API. */
  readonly exits?: readonly ExitCode[];
  /** The first flag of each list can't be used with any of the others. */
  readonly conflicts?: readonly (readonly [FlagName, ...FlagName[]])[];
  /** Returns the exit status; undefined means 0. */
  readonly run: (deps: Deps, input: ValuesOf<Specs> & ArgsOf<Args>) => Promise<ExitCode | void>;
}

const ALIASES: Readonly<Record<string, string>> = { list: "ls", remove: "rm" };
const API_EXITS: readonly ExitCode[] = [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused];

export function defineCommand<const Specs extends FlagSpecs, const Args extends ArgSpecs>(
  spec: CommandSpec<Specs, Args>,
): CommandNode {
  const { name = "", summary = "", about = [], flagsFirst = false, examples, columns = null } = spec;
  const { alias = ALIASES[name] ?? null, operation = null, conflicts = [], exits = API_EXITS, run } = spec;
  const args = Object.entries<ArgSpec>(spec.args ?? {});
  const flags = recordsOf(spec.flags ?? {}).map((record) => ({
    ...record,
    conflicts: [
      ...(record.conflicts ?? []),
      ...conflicts.flatMap(([first, ...others]) => (first === record.flag ? others : [])),
    ],
  }));
  const operands = args.map(([, { form, text, choices }]): Operand => (choices ? [form, text, choices] : [form, text]));
  const action: CommandNode["action"] = async (deps, given, words) => {
    const values: Record<string, unknown> = {};
    for (const [at, [key, arg]] of args.entries()) values[key] = await readArg(arg, words.slice(at), deps);
    const input = { ...values, ...(await readFlags(spec.flags ?? {}, given, deps)) };
    if (columns !== null && spec.columnsVary !== true) selectColumns(columns, deps.options.columns);
    return (await run(deps, input as ValuesOf<Specs> & ArgsOf<Args>)) ?? EXIT.done;
  };
  return {
    name,
    alias,
    summary,
    about,
    operands,
    flagsFirst,
    examples,
    exits,
    flags,
    columns,
    operation,
    action,
    commands: [],
  };
}

function readArg(arg: ArgSpec, words: readonly string[], deps: Deps): unknown {
  const read = (word: string): unknown => readValue(arg, word, arg.form.replace(/[^\w-]/g, ""), deps);
  if (arg.form.includes("...")) return Promise.all(words.map(read));
  return words[0] === undefined ? null : read(words[0]);
}
