/** Verbs that send one command, to a project or to the service as a whole, and show its answer. */
import type { Command } from "commander";
import type { Admin, AdminKind, AdminResults, CommandOf } from "../../../service/admin/commands.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import type { CommandContext, CommandFacts } from "../../command/command-context.ts";
import { DATA_FLAGS, type DataFileChoice, readPlace } from "../../command/data-place.ts";
import type { Deps } from "../../command/deps.ts";
import { COUNT_FLAG } from "../../command/list-rows.ts";
import { writeDone, writeNote } from "../../command/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../command/removal.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Resource } from "../../render/columns.ts";
import { PROJECT_FLAGS, readProject, showList, noteDataFile, withAdmin } from "./data/data-file.ts";
import { type RecordList, showWithLists } from "./data/record-lists.ts";
import { checkColumns } from "../../render/record-output.ts";

interface VerbInput {
  readonly deps: Deps;
  readonly flags: Flags;
  readonly operands: readonly string[];
}

interface ProjectInput extends VerbInput {
  readonly project: string;
}

interface VerbFacts<Kind extends AdminKind, Input> extends Omit<CommandFacts, "exits"> {
  readonly kind: Kind;
  /** Besides usage errors; by default done, failed and refused. */
  readonly exits?: readonly ExitCode[];
  /** Besides those of the place. */
  readonly flags?: readonly FlagRecord[];
  readonly columns: Resource;
  /** What it does can't be undone, so it asks. */
  readonly removal?: {
    /** As it is typed: `service key revoke`. */
    readonly command: string;
    /** Null if there is no such thing, as the verb then says. */
    readonly question: (admin: Admin, input: Input) => Promise<string | Question<Kind> | null>;
    /** False for an input that only looks. */
    readonly isMeant?: (input: Input) => boolean;
    /** It needs no `--yes` without a terminal. */
    readonly losesNothing?: boolean;
  };
  /** Flags and operands by field: a value that a rule refuses is a usage error. */
  readonly places?: Readonly<Partial<Record<keyof CommandOf<Kind> & string, string>>>;
  readonly lists?: (answer: AdminResults[Kind]) => readonly RecordList[];
  /** A line about what was done. */
  readonly done?: (answer: AdminResults[Kind], input: Input) => string | null;
  readonly notes?: (answer: AdminResults[Kind]) => readonly string[];
}

type Details<Kind extends AdminKind> = Omit<CommandOf<Kind>, "kind" | "project">;
type ReadDetails<Kind extends AdminKind, Input> = (input: Input) => Details<Kind> | Promise<Details<Kind>>;

/** A question that found out which one is meant: the id of a name. */
interface Question<Kind extends AdminKind> {
  readonly text: string;
  /** Replace those that were typed. */
  readonly details: Details<Kind>;
}

/** `details` runs before the data file is opened. Throws UsageError. */
type Verb<Kind extends AdminKind, Input> = VerbFacts<Kind, Input> &
  (object extends Details<Kind>
    ? { readonly details?: ReadDetails<Kind, Input> }
    : { readonly details: ReadDetails<Kind, Input> });

export function projectVerb<Kind extends AdminKind>(
  context: CommandContext,
  noun: Command,
  verb: Verb<Kind, ProjectInput>,
): void {
  addVerb<Kind, ProjectInput>(context, noun, verb, PROJECT_FLAGS, (given) => ({
    ...given,
    project: readProject(given.flags).project,
  }));
}

/** A verb about the service as a whole. */
export function serviceVerb<Kind extends AdminKind>(
  context: CommandContext,
  noun: Command,
  verb: Verb<Kind, VerbInput>,
): void {
  addVerb<Kind, VerbInput>(context, noun, verb, DATA_FLAGS, (given) => given);
}

function addVerb<Kind extends AdminKind, Input extends VerbInput & { readonly project?: string }>(
  context: CommandContext,
  noun: Command,
  given: VerbFacts<Kind, Input> & { readonly details?: ReadDetails<Kind, Input> },
  placeFlags: readonly FlagRecord[],
  toInput: (given: VerbInput) => Input,
): void {
  const { kind, details, removal, places, lists, done, notes, exits, ...facts } = given;
  const command = context.verb(noun, {
    ...facts,
    exits: exits ?? [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...placeFlags,
      ...(facts.flags ?? []),
      ...(facts.name === "list" ? [COUNT_FLAG] : []),
      ...(removal === undefined ? [] : [YES_FLAG]),
    ],
  });
  context.action(command, async (deps, flags, operands) => {
    let choice: DataFileChoice = { data: readPlace(flags) };
    const input = toInput({ deps, flags, operands });
    checkColumns(deps, facts.columns);
    const which = input.project === undefined ? {} : { project: input.project };
    let asked = { kind, ...which, ...(await details?.(input)) } as unknown as CommandOf<Kind>;
    if (removal !== undefined && removal.isMeant?.(input) !== false) {
      const mayGoOn = removal.losesNothing === true && !deps.streams.in.isTTY;
      choice = await noteDataFile(deps, choice);
      await confirmRemoval(deps, { command: removal.command, yes: flags.is("--yes") || mayGoOn }, async () => {
        const question = await withAdmin(deps, choice, (admin) => removal.question(admin, input));
        if (question === null || typeof question === "string") return question;
        asked = { ...asked, ...question.details };
        return question.text;
      });
    }
    const answer = await withAdmin(deps, choice, async (admin) => {
      try {
        return await admin(asked);
      } catch (error) {
        throw (await toUsageError(error, asked, places ?? {})) ?? error;
      }
    });
    if (Array.isArray(answer)) await showList(deps, facts.columns, answer, { count: flags.is("--count") });
    else await showWithLists(deps, facts.columns, answer, lists?.(answer) ?? []);
    const line = done?.(answer, input) ?? null;
    if (line !== null) await writeDone(deps, line);
    for (const note of notes?.(answer) ?? []) await writeNote(deps, note);
    return EXIT.done;
  });
}

async function toUsageError(
  error: unknown,
  asked: object,
  places: Readonly<Record<string, string | undefined>>,
): Promise<UsageError | null> {
  const { InvalidError } = await import("../../../service/domain/errors.ts");
  const refusal = error instanceof Error ? error.cause : null;
  if (!(refusal instanceof InvalidError)) return null;
  const [field = "", phrases = []] = Object.entries(refusal.errors)[0] ?? [];
  const value = (asked as Readonly<Record<string, unknown>>)[field];
  const place = places[field];
  return place === undefined ? null : new UsageError(`${place}: ${String(value)} ${phrases[0]}`, { cause: error });
}
