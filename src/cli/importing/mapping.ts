import { InputError } from "../../bulk/import/table/input-file.ts";
import type { NearMiss } from "../../bulk/import/table/header.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import { confirm, writeNote } from "../kit/notes.ts";
import type { Deps } from "../kit/deps.ts";
import { toShellWord } from "../render/safe-text.ts";
import type { ImportRequest, OpenedFile } from "./import-request.ts";

export async function writeHeaderNotes({ deps, table: { mapping } }: OpenedFile): Promise<void> {
  for (const note of mapping.notes) await writeNote(deps, note);
  for (const { header, field } of mapping.nearMisses) {
    const isProperty = (name: string): boolean =>
      mapping.columns.some((column) => column.header === name && column.target.kind === "property");
    const use = isProperty(header) ? "imported as a property" : "ignored";
    const parts = header.split("+");
    // If the parts aren't columns, this is a single header that contains a `+`.
    const isJoin = parts.length > 1 && parts.every(isProperty);
    const what = isJoin
      ? `${parts.map((part) => `"${part}"`).join(" and ")} will be imported as properties`
      : `"${header}" will be ${use}`;
    await writeNote(deps, `${what}; to map ${isJoin ? "them" : "it"}: ${mapFlags([{ header, field }])}`);
  }
}

export function meaningOf({ columns }: ImportTable["mapping"], index: number): string {
  const target = columns[index]?.target ?? { kind: "ignored" };
  if (target.kind === "field") return target.field.name;
  if (target.kind === "property") return `property ${target.key}`;
  const whole = columns.find((column) => column.target.kind === "field" && column.target.joined?.includes(index));
  return whole?.target.kind === "field" ? `part of ${whole.target.field.name}` : "ignored";
}

export function mapFlags(columns: readonly NearMiss[]): string {
  return columns.map(({ header, field }) => `--map ${quoteArgument(`${header}=${field}`)}`).join(" ");
}

/** Prefers double quotes, because every shell supports them. */
export function quoteArgument(text: string): string {
  return /["$`\\!%]/.test(text) ? toShellWord(text) : `"${text}"`;
}

/**
 * On a terminal, offers a mapping that makes the header usable, and adds it to the command line for resuming. Otherwise
 * throws `error`. Throws CancelledError if the user declines.
 */
export async function askForMapping(
  deps: Deps,
  request: ImportRequest,
  error: unknown,
): Promise<Omit<OpenedFile, "table">> {
  const { streams, commandLine } = deps;
  const fix = error instanceof InputError ? error.fix : null;
  const isAsked = !request.flags.yes && streams.in.isTTY && streams.err.isTTY;
  if (!(error instanceof InputError) || fix?.kind !== "map" || !isAsked) throw error;
  const { columns } = fix;
  const width = Math.max(...columns.map(({ header }) => header.length));
  const lines = columns.map(({ header, field }) => `  ${`"${header}"`.padEnd(width + 2)} -> ${field}\n`);
  await streams.err.write(`${error.message}\n${lines.join("")}`);
  await confirm(deps, "Import with this mapping?");
  const renames = columns.map(({ header, field }) => [header, field] as const);
  const { flags } = request;
  return {
    deps: { ...deps, commandLine: addFlags(commandLine, renames) },
    request: { ...request, flags: { ...flags, renames: [...flags.renames, ...renames] } },
  };
}

function addFlags(commandLine: readonly string[], renames: ImportRequest["flags"]["renames"]): readonly string[] {
  const end = commandLine.includes("--") ? commandLine.indexOf("--") : commandLine.length;
  const flags = renames.flatMap(([header, field]) => ["--map", `${header}=${field}`]);
  return commandLine.toSpliced(end, 0, ...flags);
}
