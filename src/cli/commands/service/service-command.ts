/** A verb that calls one operation on the data at hand, and shows its result. */
import type { Admin, AdminResults, CommandOf } from "../../../service/admin/commands.ts";
import type { InputOf, OperationName } from "../../../service/operations/index.ts";
import { parseName } from "../../args/values.ts";
import { DATA_FLAGS, type DataFileChoice, readPlace } from "../../command/data-place.ts";
import type { Deps } from "../../command/deps.ts";
import { COUNT_FLAG } from "../../command/list-rows.ts";
import { writeDone, writeNote } from "../../command/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../command/removal.ts";
import { EXIT } from "../../exit-codes.ts";
import type { CommandNode } from "../../kit/command-node.ts";
import { type ArgsOf, type ArgSpecs, defineCommand } from "../../kit/define-command.ts";
import type { FlagGroup, FlagSpec, FlagSpecs, ValuesOf } from "../../kit/flag-spec.ts";
import type { Resource } from "../../render/columns.ts";
import { checkColumns } from "../../render/record-output.ts";
import { noteDataFile, PROJECT_FLAG, showList, showRecord, withAdmin } from "./data/data-file.ts";

const PLACE: FlagGroup<DataFileChoice> = {
  records: DATA_FLAGS,
  read: (flags) => ({ data: readPlace(flags) }),
};

interface Shared {
  readonly place: DataFileChoice;
  readonly project: string;
  readonly count?: boolean;
  readonly yes?: boolean;
}

interface Verb<Name extends OperationName, Specs extends FlagSpecs, Args extends ArgSpecs, Values> {
  readonly operation: Name;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly args?: Args;
  /** Besides those of the place. */
  readonly flags?: Specs;
  readonly columns: Resource;
  /** What it does can't be undone, so it asks. Null if there is nothing to ask: the operation then says why. */
  readonly question?: (values: Values & Shared, admin: Admin) => Promise<string | null>;
  /** A line about what was done. */
  readonly done?: (result: AdminResults[Name], values: Values & Shared) => string | null;
  readonly notes?: (result: AdminResults[Name]) => readonly string[];
}

interface InputSpec<Values, Input> {
  readonly input: (values: Values, deps: Deps) => Input;
}

/** Flags and arguments named like the fields of the operation are its input; without them `input` makes it. */
type VerbSpec<Name extends OperationName, Specs extends FlagSpecs, Args extends ArgSpecs, Values> = Verb<
  Name,
  Specs,
  Args,
  Values
> &
  (Values & object extends InputOf<Name>
    ? Partial<InputSpec<Values, InputOf<Name>>>
    : InputSpec<Values, InputOf<Name>>);

/** For an argument `<name>`. Throws UsageError. */
export function parseNameArg(text: string): string {
  return parseName(text, "<name>");
}

const ALIASES: Readonly<Record<string, string>> = { list: "ls", remove: "rm" };

export function serviceCommand<Name extends OperationName, const Specs extends FlagSpecs, const Args extends ArgSpecs>(
  spec: VerbSpec<Name, Specs, Args, ValuesOf<Specs> & ArgsOf<Args>>,
): CommandNode {
  type Values = ValuesOf<Specs> & ArgsOf<Args>;
  const { operation, input, question, done, notes, columns, ...command } = spec as Verb<Name, Specs, Args, Values> &
    Partial<InputSpec<Values, object>>;
  const name = operation.split(".").at(-1) ?? "";
  const alias = ALIASES[name];
  const flags: Readonly<Record<string, FlagSpec | FlagGroup>> = {
    place: PLACE,
    project: PROJECT_FLAG,
    ...command.flags,
    ...(name === "list" && { count: COUNT_FLAG }),
    ...(question !== undefined && { yes: YES_FLAG }),
  };
  return defineCommand({
    name,
    ...(alias !== undefined && { alias }),
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    ...command,
    flags,
    columns,
    run: async (deps, values) => {
      const given = values as unknown as Values & Shared;
      const { place, project, count = false, yes = false, ...own } = given;
      checkColumns(deps, columns);
      const call = { kind: operation, project, ...(input?.(own as Values, deps) ?? own) } as unknown as CommandOf<Name>;
      let choice = place;
      if (question !== undefined) {
        choice = await noteDataFile(deps, place);
        const removal = { command: `service ${operation.replace(".", " ")}`, yes };
        await confirmRemoval(deps, removal, () => withAdmin(deps, choice, (admin) => question(given, admin)));
      }
      const result = await withAdmin(deps, choice, (admin) => admin(call));
      if (Array.isArray(result)) await showList(deps, columns, result, { count });
      else await showRecord(deps, columns, result);
      const line = done?.(result, given) ?? null;
      if (line !== null) await writeDone(deps, line);
      for (const note of notes?.(result) ?? []) await writeNote(deps, note);
    },
  });
}
