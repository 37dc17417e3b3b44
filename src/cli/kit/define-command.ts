import { API_EXITS, EXIT, type ExitCode } from "../exit-codes.ts";
import type { ParsedOf } from "../args/flag-record.ts";
import { type Resource, selectColumns } from "../render/columns.ts";
import type { Deps } from "./deps.ts";
import { type CommandNode, NO_ACTION, type Operand } from "./command-node.ts";
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
  /** Without a full stop. A command without a name has its group's summary. */
  readonly summary?: string;
  readonly about?: CommandNode["about"];
  readonly examples: readonly string[];
  readonly args?: Args;
  /** If true, nothing after the first argument is a flag. */
  readonly flagsFirst?: boolean;
  readonly flags?: Specs;
  /** Names in `--columns` that aren't among these are rejected before `run`. */
  readonly columns?: Resource;
  /** Set if the columns depend on other flags; `run` then checks `--columns`. */
  readonly columnsVary?: boolean;
  readonly operation?: string;
  /** Defaults to the statuses of a command that calls the API. The status of usage errors is added. */
  readonly exits?: readonly ExitCode[];
  /** The first flag of each list can't be used with any of the others. */
  readonly conflicts?: readonly (readonly [FlagName, ...FlagName[]])[];
  readonly run: (deps: Deps, input: ValuesOf<Specs> & ArgsOf<Args>) => Promise<ExitCode | void>;
}

const ALIASES: Readonly<Record<string, string>> = { list: "ls", remove: "rm" };

export function defineCommand<const Specs extends FlagSpecs, const Args extends ArgSpecs>(
  spec: CommandSpec<Specs, Args>,
): CommandNode {
  const { args: argSpecs = {}, flags: flagSpecs = {}, columnsVary = false, conflicts = [], run, ...facts } = spec;
  const args = Object.entries<ArgSpec>(argSpecs);
  const flags = recordsOf(flagSpecs).map((record) => ({
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
    const input = { ...values, ...(await readFlags(flagSpecs, given, deps)) };
    if (facts.columns !== undefined && !columnsVary) selectColumns(facts.columns, deps.options.columns);
    return (await run(deps, input as ValuesOf<Specs> & ArgsOf<Args>)) ?? EXIT.done;
  };
  const alias = ALIASES[facts.name ?? ""] ?? null;
  return { ...NO_ACTION, alias, exits: API_EXITS, ...facts, operands, flags, action };
}

function readArg(arg: ArgSpec, words: readonly string[], deps: Deps): unknown {
  const read = (word: string): unknown => readValue(arg, word, arg.form.replace(/[^\w-]/g, ""), deps);
  if (arg.form.includes("...")) return Promise.all(words.map(read));
  return words[0] === undefined ? null : read(words[0]);
}
