import type { Json } from "../../../../contract/json.ts";
import { NothingFoundError } from "../../../errors/command-errors.ts";
import { idText } from "../../../../client/write/look-up.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { tagName, tagsOf } from "../../shared/row-filters.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeNote } from "../../../kit/notes.ts";
import { confirmRemoval, YES_FLAG } from "../../../kit/removal.ts";
import { isSelecting, readSelected, RESPONSE_FILTERS, type Selection } from "../selection.ts";
import { type Change, changedColumns, changeResponses } from "./change.ts";

const COLUMNS = changedColumns("tags");

export const tag = defineCommand({
  name: "tag",
  summary: "add and remove tags of responses; other flags come before the ids",
  examples: [
    "surveyctl responses tag 42 +billing -spam",
    "surveyctl responses tag 42 43 --add refund",
    "surveyctl responses tag --from ids.txt --yes +refund",
    "surveyctl responses tag --since 7d --search refund +refund",
  ],
  args: { words: { form: "[id|+tag|-tag...]", text: "response ids; +TAG adds a tag, -TAG removes one" } },
  flagsFirst: true,
  flags: {
    add: { value: "tag", text: "a tag to add, like +TAG; may follow the ids", repeatable: true },
    remove: { value: "tag", text: "a tag to remove, like -TAG; may follow the ids", repeatable: true },
    from: {
      value: "file",
      text: "all responses in a file, or - for standard input: CSV with a header, or one id per line",
    },
    filters: RESPONSE_FILTERS,
    yes: YES_FLAG,
  },
  columns: COLUMNS,
  async run(deps, { words, from, filters, yes, ...flags }) {
    const signed = [...flags.add.map((name) => `+${name}`), ...flags.remove.map((name) => `-${name}`)];
    const { ids, add, remove } = readTagWords([...signed, ...words]);
    const change = tagChange(add, remove);
    const selection = { ...filters, redact: false };
    const ways = [ids.length > 0, from !== null, isSelecting(selection)].filter(Boolean).length;
    if (ways > 1) throw new UsageError("responses tag: ids, --from and filters cannot be used together");
    if (ways === 0)
      throw new UsageError("responses tag: specify one id or more, a file of ids with --from, or filters");
    if (ids.length > 0) return changeResponses(deps, ids, COLUMNS, change);
    const found = from === null ? await selectIds(deps, selection) : await readIds(deps, from);
    if (found.length === 0) return writeNote(deps, "no responses were found; nothing was changed");
    const tags = [...add.map((name) => `+${name}`), ...remove.map((name) => `-${name}`)].join(" ");
    const count = countOf(found.length, "response");
    const removal = { command: "responses tag", yes, kept: "Nothing was changed.", isList: true };
    return changeResponses(deps, found, COLUMNS, change, {
      oneByOne: true,
      confirm: ({ baseUrl }) => confirmRemoval(deps, removal, () => `Tag ${count} at ${baseUrl}: ${tags}?`),
      summary: (done) => `Tagged ${countOf(done, "response")}.`,
    });
  },
});

async function readIds(deps: Deps, from: string): Promise<readonly string[]> {
  const { readNamesFile, RESPONSE_IDS } = await import("../../shared/names-file.ts");
  return readNamesFile(deps, from, RESPONSE_IDS);
}

async function selectIds(deps: Deps, selection: Selection): Promise<readonly string[]> {
  const ids = new Set<string>();
  await readSelected(deps, selection, { take: ({ id }) => ids.add(idText(id)) });
  return [...ids];
}

function tagChange(add: readonly string[], remove: readonly string[]): Change {
  return {
    plan(row) {
      const tags = tagsOf(row).map(tagName);
      // The request replaces all tags, so a tag in a format that can't be sent back would be lost.
      if (tags.includes(null)) throw new NothingFoundError("its tags are of a kind that cannot be sent back");
      const now = tags.filter((name) => name !== null);
      const wanted = [...new Set([...now.filter((name) => !remove.includes(name)), ...add])];
      return isSame(now, wanted) ? null : { tags: wanted };
    },
    isRepeatable: true,
    isTaken: (row, { tags }) => isSame(tagsOf(row).map(tagName), Array.isArray(tags) ? tags : []),
    show: (row) => ({ tags: [...tagsOf(row)] }),
  };
}

/** Turns `--add x` and `--remove=y` after the ids into `+x` and `-y`. Throws UsageError. */
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

export function readTagWords(typed: readonly string[]) {
  const words = toSigns(typed);
  const flag = words.find((word) => word.startsWith("--"));
  if (flag !== undefined)
    throw new UsageError(`responses tag: ${flag} must come before the ids`, {
      hint: "after the ids, a word with a hyphen is a tag to remove",
    });
  const unique = (sign: string): string[] => [
    ...new Set(words.filter((word) => word.startsWith(sign)).map((word) => word.slice(1).trim())),
  ];
  const ids = [...new Set(words.filter((word) => !/^[+-]/.test(word)))];
  const [add, remove] = [unique("+"), unique("-")];
  if (add.length + remove.length === 0)
    throw new UsageError("responses tag: specify a tag to add, as in +billing, or to remove, as in -spam");
  if ([...add, ...remove].includes("")) throw new UsageError("responses tag: a tag is missing after + or -");
  const both = add.find((name) => remove.includes(name));
  if (both !== undefined) throw new UsageError(`responses tag: +${both} and -${both} cannot be used together`);
  return { ids, add, remove };
}

function isSame(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((name) => right.includes(name));
}
