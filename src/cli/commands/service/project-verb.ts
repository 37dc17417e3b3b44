/** Verbs that send one command to a project and show its answer. */
import type { Command } from "commander";
import type { Admin, AdminKind, AdminResults, CommandOf } from "../../../service/control/commands.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import type { CommandContext, CommandFacts } from "../../command/command-context.ts";
import type { DataFileChoice } from "../../command/data-place.ts";
import type { Deps } from "../../command/deps.ts";
import { writeDone, writeNote } from "../../command/notes.ts";
import { checkRemoval, YES_FLAG } from "../../command/removal.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Resource } from "../../render/columns.ts";
import { PROJECT_FLAGS, readProject, showList, showRecord, tellPlace, withAdmin } from "./data/data-file.ts";

/** The input of a verb. */
export interface VerbInput {
  readonly deps: Deps;
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly project: string;
}

interface VerbFacts<Kind extends AdminKind> extends Omit<CommandFacts, "exits"> {
  /** The command's kind. */
  readonly kind: Kind;
  /** Besides the data file and the project. */
  readonly flags?: readonly FlagRecord[];
  /** A list shows each of its answer's elements. */
  readonly columns: Resource;
  /** Of a verb that removes what cannot be brought back. */
  readonly removal?: {
    /** As it is typed: `service key revoke`. */
    readonly command: string;
    /** The question, with its numbers; null where there is no such thing, as the verb then says itself. */
    readonly question: (admin: Admin, input: VerbInput) => Promise<string | null>;
  };
  /** A line for people about what was done. */
  readonly done?: (answer: AdminResults[Kind], input: VerbInput) => string;
  /** A note about a secret that was shown. */
  readonly note?: string;
}

/** The fields of a command besides its kind and its project. */
type Details<Kind extends AdminKind> = Omit<CommandOf<Kind>, "kind" | "project">;

/** `details` reads flags and operands, before the data file is opened. It throws UsageError. */
export type ProjectVerb<Kind extends AdminKind> = VerbFacts<Kind> &
  (object extends Details<Kind>
    ? { readonly details?: (input: VerbInput) => Details<Kind> }
    : { readonly details: (input: VerbInput) => Details<Kind> });

export function projectVerb<Kind extends AdminKind>(
  context: CommandContext,
  noun: Command,
  given: ProjectVerb<Kind>,
): void {
  const verb: VerbFacts<Kind> & { readonly details?: (input: VerbInput) => Details<Kind> } = given;
  const { kind, details, removal, done, note, ...facts } = verb;
  const command = context.verb(noun, {
    ...facts,
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [...PROJECT_FLAGS, ...(facts.flags ?? []), ...(removal === undefined ? [] : [YES_FLAG])],
  });
  context.action(command, async (deps, flags, operands) => {
    const { project, ...place } = readProject(flags);
    const input = { deps, flags, operands, project };
    const asked = { kind, project, ...details?.(input) } as unknown as CommandOf<Kind>;
    let choice: DataFileChoice = place;
    if (removal !== undefined) {
      const ask = checkRemoval(deps, { command: removal.command, yes: flags.is("--yes") });
      choice = await tellPlace(deps, place);
      await ask(() => withAdmin(deps, choice, (admin) => removal.question(admin, input)));
    }
    const answer = await withAdmin(deps, choice, (admin) => admin(asked));
    if (Array.isArray(answer)) await showList(deps, facts.columns, answer as readonly object[]);
    else await showRecord(deps, facts.columns, answer);
    if (done !== undefined) await writeDone(deps, done(answer, input));
    if (note !== undefined) await writeNote(deps, note);
    return EXIT.done;
  });
}
