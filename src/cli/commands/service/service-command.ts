import type { Confirmation } from "../../../service/domain/errors.ts";
import type { Access } from "../../../service/operations/define/operation.ts";
import { OUTPUTS } from "../../../service/operations/define/outputs.ts";
import type { Admin, InputOf, OperationName, ResultOf, ScopeOf } from "../../../service/operations/index.ts";
import { parseName } from "../../args/values.ts";
import type { DataFileChoice } from "../../kit/data/data-place.ts";
import type { Deps } from "../../kit/deps.ts";
import { COUNT_FLAG, LIMITS, type ListLimits } from "../../kit/rows/list-rows.ts";
import { writeDone, writeNote } from "../../kit/notes.ts";
import { YES_FLAG } from "../../kit/removal.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandNode } from "../../kit/command-node.ts";
import { type ArgsOf, type ArgSpecs, defineCommand } from "../../kit/define-command.ts";
import { flagOf } from "../../args/flag-record.ts";
import type { FlagGroup, FlagSpec, FlagSpecs, ValuesOf } from "../../kit/flag-spec.ts";
import { type Resource, toResource } from "../../render/columns.ts";
import {
  callConfirmed,
  PLACE,
  PROJECT,
  showList,
  showPages,
  showRecord,
  withAdmin,
  withoutDryRun,
  withStore,
} from "./data/data-file.ts";

interface Shared {
  readonly place: DataFileChoice;
  readonly project: string | null;
  readonly count?: boolean;
  readonly yes?: boolean;
  readonly limits?: ListLimits;
}

interface Acted extends Shared {
  readonly project: string;
  readonly isChange: boolean;
}

interface Verb<Name extends OperationName, Specs extends FlagSpecs, Args extends ArgSpecs, Values> {
  readonly operation: Name;
  readonly name?: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly args?: Args;
  readonly flags?: Specs;
  /** The noun of the operation's rows. Their columns are in `OUTPUTS`. */
  readonly noun?: string;
  readonly dropFirst?: readonly string[];
  /** Needed if the operation isn't in `OUTPUTS` or the command displays the result itself. */
  readonly columns?: Resource | undefined;
  /** The result is a paged list. A function chooses its columns. */
  readonly pages?: true | ((values: Values) => Resource);
  /** Exit statuses other than for usage errors. Defaults to those of a command that calls the API. */
  readonly exits?: readonly ExitCode[];
  /** Asks before removing something, with the operation's own question or one composed from it. */
  readonly asks?: true | ((confirm: Confirmation, deps: Deps) => string | Promise<string>);
  readonly retypes?: keyof Values & string;
  /** Set if the operation has a `dry_run` field, which `input` takes from `--dry-run`. */
  readonly dryRuns?: true;
  readonly losesNothing?: true;
  /** The flag or argument for each field, so that a usage error can name it if a rule refuses the field. */
  readonly places?: { readonly [Field in keyof InputOf<Name>]?: string };
  readonly show?: (deps: Deps, result: ResultOf<Name>, values: Values & Acted) => Promise<void>;
  readonly done?: (result: ResultOf<Name>, values: Values & Acted) => string | null;
  readonly notes?: (result: ResultOf<Name>, deps: Deps) => readonly string[] | Promise<readonly string[]>;
}

interface InputSpec<Values, Input> {
  readonly input: (values: Values, deps: Deps) => Input | Promise<Input>;
}

type IsInput<Values, Input> = Values extends Input ? (keyof Values extends keyof Input ? true : false) : false;

type Plain<Name extends OperationName, Specs extends FlagSpecs, Args extends ArgSpecs, Values> = Verb<
  Name,
  Specs,
  Args,
  Values
> &
  Partial<InputSpec<Values, object>> & { readonly scope?: "server" };

/** Flags and arguments named like the operation's fields are its input. If there are none, `input` builds it. */
type VerbSpec<Name extends OperationName, Specs extends FlagSpecs, Args extends ArgSpecs, Values> = Verb<
  Name,
  Specs,
  Args,
  Values
> &
  (IsInput<Values & object, InputOf<Name>> extends true
    ? Partial<InputSpec<Values, InputOf<Name>>>
    : InputSpec<Values, InputOf<Name>>) &
  (ScopeOf<Name> extends "server" ? { readonly scope: "server" } : object);

export function parseNameArg(text: string): string {
  return parseName(text, "<name>");
}

const LOCAL_EXITS: readonly ExitCode[] = [EXIT.done, EXIT.failed, EXIT.refused];

export function serviceCommand<Name extends OperationName, const Specs extends FlagSpecs, const Args extends ArgSpecs>(
  spec: VerbSpec<Name, Specs, Args, ValuesOf<Specs> & ArgsOf<Args>>,
): CommandNode {
  type Values = ValuesOf<Specs> & ArgsOf<Args>;
  const verb = spec as Plain<Name, Specs, Args, Values>;
  const { operation, scope, noun, dropFirst, pages, asks } = verb;
  const columns =
    noun === undefined ? verb.columns : toResource(noun, OUTPUTS[operation as keyof typeof OUTPUTS], dropFirst);
  const { name = operation.split(".").at(-1) ?? "", exits = scope === "server" ? LOCAL_EXITS : undefined } = verb;
  const flags: Readonly<Record<string, FlagSpec | FlagGroup>> = {
    place: PLACE,
    ...(scope === undefined && { project: PROJECT }),
    ...verb.flags,
    ...(pages !== undefined ? { limits: LIMITS } : name === "list" && { count: COUNT_FLAG }),
    ...(asks !== undefined && { yes: YES_FLAG }),
  };
  const { summary, examples, args } = verb;
  return defineCommand({
    name,
    summary,
    examples,
    ...(args !== undefined && { args }),
    flags,
    ...(columns !== undefined && { columns, columnsVary: typeof pages === "function" }),
    ...(scope === undefined && { operation }),
    ...(exits !== undefined && { exits }),
    run: (deps, values) => callAndShow(deps, { ...verb, columns }, values as unknown as Values & Shared),
  });
}

async function callAndShow<Name extends OperationName, Values>(
  deps: Deps,
  verb: Plain<Name, FlagSpecs, ArgSpecs, Values>,
  values: Values & Shared,
): Promise<void> {
  const { operation, scope, input, pages, asks, losesNothing = false, places = {}, show, done, notes } = verb;
  const acting = verb.dryRuns === true ? withoutDryRun(deps) : deps;
  const columns = typeof pages === "function" ? pages(values) : verb.columns;
  const { place, project: named, limits, count = false, yes = false, ...own } = values;
  const call = { kind: operation, project: named, ...((await input?.(own as Values, deps)) ?? own) };
  const isChange = (await checkedAccess(verb, call)) === "write";
  if (limits !== undefined && columns !== undefined)
    return showPages(deps, { ...place, project: named, resource: columns, limits, call });
  const removal = {
    command: `service ${operation.replace(".", " ")}`,
    yes: yes || (losesNothing && !deps.streams.in.isTTY),
    ...(verb.dryRuns === true && { kept: "Nothing was changed." }),
    ...(verb.retypes !== undefined && { retyped: String(values[verb.retypes]) }),
  };
  const compose = typeof asks === "function" ? (confirm: Confirmation) => asks(confirm, deps) : undefined;
  const act = async (admin: Admin, project: string) => {
    try {
      return { result: await callConfirmed(acting, admin, call, removal, compose), project };
    } catch (error) {
      throw (await toUsageError(error, call, places)) ?? error;
    }
  };
  const choice = { ...place, changes: isChange };
  const { result, project } =
    scope === "server"
      ? await withStore(acting, choice, (admin) => act(admin, ""))
      : await withAdmin(acting, choice, named ?? null, act);
  const acted = { ...values, project, isChange };
  if (show !== undefined) await show(deps, result, acted);
  else if (columns !== undefined && Array.isArray(result)) await showList(deps, columns, result, { count });
  else if (columns !== undefined) await showRecord(deps, columns, result as object);
  const line = done?.(result, acted) ?? null;
  if (line !== null) await writeDone(deps, line);
  for (const note of (await notes?.(result, deps)) ?? []) await writeNote(deps, note);
}

/** Checks the input before anything is opened or sent. Throws UsageError that names the flag or argument. */
async function checkedAccess<Name extends OperationName>(
  { flags = {}, args = {} }: Plain<Name, FlagSpecs, ArgSpecs, never>,
  call: { readonly kind: Name },
): Promise<Access> {
  const { requiredAccess } = await import("../../../service/operations/index.ts");
  try {
    return requiredAccess(call);
  } catch (error) {
    const { InvalidError } = await import("../../../service/domain/errors.ts");
    const [field, [phrase]] = error instanceof InvalidError ? (Object.entries(error.errors)[0] ?? ["", []]) : ["", []];
    const spec = flags[field];
    const flag = spec === undefined || "records" in spec ? null : (spec.flag ?? flagOf(field));
    const place = flag ?? args[field]?.form.replace(/\[(.*)\]/, "<$1>");
    throw place === undefined ? error : new UsageError(`${place}: ${phrase}`, { cause: error });
  }
}

async function toUsageError(
  error: unknown,
  call: object,
  places: Readonly<Record<string, string | undefined>>,
): Promise<UsageError | null> {
  const { InvalidError } = await import("../../../service/domain/errors.ts");
  if (!(error instanceof InvalidError)) return null;
  const [field = "", phrases = []] = Object.entries(error.errors)[0] ?? [];
  const place = places[field];
  const value = (call as Readonly<Record<string, unknown>>)[field];
  return place === undefined ? null : new UsageError(`${place}: ${String(value)} ${phrases[0]}`, { cause: error });
}
