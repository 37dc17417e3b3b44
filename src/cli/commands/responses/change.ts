/**
 * `responses tag` and `responses note`: changes over an endpoint that only client libraries know, so each is read back.
 */
import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import { mayHaveArrived, UnknownOutcomeError } from "../../../client/errors/call-errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { changeEach } from "../../command/rows/change-each.ts";
import { type Refusal, withRefusals } from "../../command/refusals.ts";
import { writeDryRun } from "../../command/write-outcome.ts";
import { InterruptedError, NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { checkColumns } from "../../render/record-output.ts";
import { getRefusals } from "./get.ts";
import { tagName, tagsOf } from "./selection/row-filters.ts";

export function changedColumns(...shown: readonly string[]): Resource {
  const table = ["id", "outcome", ...shown, "error"];
  const columns = table.map((name) => pathColumn(name));
  return { noun: "responses", columns, table, dropFirst: [], flexible: "error", fields: [] };
}

const TAG_COLUMNS = changedColumns("tags");
const NOTE_COLUMNS = changedColumns("notes");

export const CHANGE_EXITS = [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused] as const;

export interface TagOptions {
  readonly ids: readonly string[];
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

const TAG_FLAGS: readonly FlagRecord[] = [
  { flag: "--add", value: "tag", text: "a tag to add, like +TAG; may follow the ids", repeatable: true },
  { flag: "--remove", value: "tag", text: "a tag to remove, like -TAG; may follow the ids", repeatable: true },
];

export function registerResponsesTag(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "tag",
    summary: "add and remove tags of responses; other flags come before the ids",
    operands: [["<id|+tag|-tag...>", "response ids; +TAG adds a tag, -TAG removes one"]],
    flagsFirst: true,
    examples: ["surveyctl responses tag 42 +billing -spam", "surveyctl responses tag 42 43 --add refund"],
    exits: CHANGE_EXITS,
    flags: TAG_FLAGS,
    columns: TAG_COLUMNS,
  });
  context.action(command, (deps, flags, words) => {
    const [add, remove] = [flags.all("--add"), flags.all("--remove")];
    return runResponsesTag(deps, readTagWords([...signed("+", add), ...signed("-", remove), ...words]));
  });
}

function signed(sign: "+" | "-", tags: readonly string[]): string[] {
  return tags.map((tag) => sign + tag);
}

/** `--add x` and `--remove=y` behind the ids as `+x` and `-y`. Throws UsageError. */
function toSigns([word, ...more]: readonly string[]): string[] {
  if (word === undefined) return [];
  const [, name, value] = /^--(add|remove)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === undefined) return [word, ...toSigns(more)];
  const sign = name === "add" ? "+" : "-";
  if (value !== undefined) return [sign + value, ...toSigns(more)];
  const [next, ...others] = more;
  if (next === undefined) throw new UsageError(`--${name}: a value is required`);
  return [sign + next, ...toSigns(others)];
}

export function readTagWords(typed: readonly string[]): TagOptions {
  const words = toSigns(typed);
  const flag = words.find((word) => word.startsWith("--"));
  if (flag !== undefined)
    throw new UsageError(`responses tag: ${flag} must come before the ids`, {
      hint: "behind the ids a word with a hyphen is a tag to remove",
    });
  const unique = (sign: string): string[] => [
    ...new Set(words.filter((word) => word.startsWith(sign)).map((word) => word.slice(1).trim())),
  ];
  const ids = [...new Set(words.filter((word) => !/^[+-]/.test(word)))];
  const [add, remove] = [unique("+"), unique("-")];
  if (ids.length === 0) throw new UsageError("responses tag: specify one id or more");
  if (add.length + remove.length === 0)
    throw new UsageError("responses tag: specify a tag to add, as in +billing, or to remove, as in -spam");
  if ([...add, ...remove].includes("")) throw new UsageError("responses tag: a tag is missing after + or -");
  const both = add.find((tag) => remove.includes(tag));
  if (both !== undefined) throw new UsageError(`responses tag: +${both} and -${both} cannot be used together`);
  return { ids, add, remove };
}

async function runResponsesTag(deps: Deps, { ids, add, remove }: TagOptions): Promise<ExitCode> {
  return changeResponses(deps, ids, TAG_COLUMNS, {
    plan(row) {
      const tags = tagsOf(row).map(tagName);
      // A list that is sent back without one of its tags would remove it.
      if (tags.includes(null)) throw new NothingFoundError("its tags are of a kind that cannot be sent back");
      const now = tags.filter((tag) => tag !== null);
      const wanted = [...new Set([...now.filter((tag) => !remove.includes(tag)), ...add])];
      return isSame(now, wanted) ? null : { tags: wanted };
    },
    isRepeatable: true,
    isTaken: (row, { tags }) => isSame(tagsOf(row).map(tagName), Array.isArray(tags) ? tags : []),
    show: (row) => ({ tags: [...tagsOf(row)] }),
  });
}

function isSame(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((tag) => right.includes(tag));
}

interface NoteOptions {
  readonly id: string;
  readonly text: string;
}

export function registerResponsesNote(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "note",
    summary: "add a note to a response",
    operands: [
      ["<id>", "the response's id"],
      ["<text>", "the note"],
    ],
    examples: [
      `surveyctl responses note 42 'Called back, resolved'`,
      `surveyctl responses note 42 'Refunded' --dry-run`,
    ],
    exits: CHANGE_EXITS,
    columns: NOTE_COLUMNS,
  });
  context.action(command, (deps, _flags, [id = "", text = ""]) => runResponsesNote(deps, { id, text }));
}

async function runResponsesNote(deps: Deps, { id, text }: NoteOptions): Promise<ExitCode> {
  if (text.trim() === "") throw new UsageError("responses note: the text is empty");
  return changeResponses(deps, [id], NOTE_COLUMNS, {
    plan: () => ({ notes: text }),
    // A repeat would add a second note.
    isRepeatable: false,
    isTaken: (row, _body, before) => countNotes(row, text) > countNotes(before, text),
    show: (row) => ({ notes: notesOf(row) }),
  });
}

function notesOf({ notes }: JsonObject): Json[] {
  return Array.isArray(notes) ? [...notes] : [];
}

function countNotes(row: JsonObject, text: string): number {
  return notesOf(row).filter((note) => (isJsonObject(note) ? note["text"] : note) === text).length;
}

export interface Change {
  /** The body that is sent; null where the response is as wanted already. */
  readonly plan: (row: JsonObject) => JsonObject | null;
  readonly isRepeatable: boolean;
  readonly isTaken: (after: JsonObject, body: JsonObject, before: JsonObject) => boolean;
  readonly show: (row: JsonObject) => JsonObject;
}

export async function changeResponses(
  deps: Deps,
  ids: readonly string[],
  resource: Resource,
  change: Change,
): Promise<ExitCode> {
  checkColumns(deps, resource);
  return withClient(deps, async (client, connection) => {
    if (deps.options.dryRun) {
      for (const id of ids) await writePlanned(deps, client, id, change);
      return EXIT.done;
    }
    client.checkMayWrite();
    await changeEach(deps, {
      connection,
      items: ids,
      resource,
      named: (id) => ({ id }),
      nameOf: (id) => `response ${id}`,
      work: (id) => changeOne(deps, client, id, change),
    });
    return EXIT.done;
  });
}

async function writePlanned(deps: Deps, client: Client, id: string, { plan }: Change): Promise<void> {
  const body = plan(await read(deps, client, id));
  if (body === null) return;
  const request = { route: ROUTES.updateResponse, placeholders: { id }, body };
  await writeDryRun(deps, client.baseUrl, request);
}

async function changeOne(deps: Deps, client: Client, id: string, change: Change): Promise<JsonObject> {
  const before = await read(deps, client, id);
  const body = change.plan(before);
  if (body === null) return { outcome: "unchanged", ...change.show(before) };
  const route = { ...ROUTES.updateResponse, idempotent: change.isRepeatable };
  const sent = client.call({ route, placeholders: { id }, body, signal: deps.signal });
  const look = `look with "surveyctl responses show ${id}"`;
  const advice = change.isRepeatable ? `${look}; the same again is safe` : `${look} before trying again`;
  const stopped = ({ signal }: InterruptedError): InterruptedError =>
    new InterruptedError(signal, `the request may have been processed: ${advice}`);
  // The arrival of a write whose answer was lost shows below.
  const lost = await withRefusals(sent, updateRefusals(id)).then(
    () => null,
    (error: unknown) => {
      if (error instanceof InterruptedError) throw stopped(error);
      if (!mayHaveArrived(error)) throw error;
      return error;
    },
  );
  const after = await read(deps, client, id).catch((error: unknown) => {
    throw error instanceof InterruptedError ? stopped(error) : error;
  });
  if (change.isTaken(after, body, before)) return { outcome: "changed", ...change.show(after) };
  if (lost !== null) throw change.isRepeatable ? lost : new UnknownOutcomeError(lost, "a check found no trace of it");
  throw new NothingFoundError(
    `the service did not take the change of response ${id}`,
    "it may not support such changes",
  );
}

async function read(deps: Deps, client: Client, id: string): Promise<JsonObject> {
  const call = client.getResponse(id, { expand: ["notes"] }, { signal: deps.signal });
  return (await withRefusals(call, getRefusals(id))).json;
}

function updateRefusals(id: string): readonly Refusal[] {
  const lacking = { words: "this service cannot change responses", hint: "surveyctl responses get ID shows them" };
  return [
    { status: 404, words: `no response with id ${id}, or the service cannot change responses`, hint: lacking.hint },
    { status: 405, ...lacking },
    { status: 410, ...lacking },
  ];
}
