import type { Json } from "../../../../contract/json.ts";
import { NothingFoundError } from "../../../errors/command-errors.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { tagName, tagsOf } from "../../shared/row-filters.ts";
import { changedColumns, changeResponses } from "./change.ts";

const COLUMNS = changedColumns("tags");

export const tag = defineCommand({
  name: "tag",
  summary: "add and remove tags of responses; other flags come before the ids",
  examples: ["surveyctl responses tag 42 +billing -spam", "surveyctl responses tag 42 43 --add refund"],
  args: { words: { form: "<id|+tag|-tag...>", text: "response ids; +TAG adds a tag, -TAG removes one" } },
  flagsFirst: true,
  flags: {
    added: { flag: "--add", value: "tag", text: "a tag to add, like +TAG; may follow the ids", repeatable: true },
    removed: {
      flag: "--remove",
      value: "tag",
      text: "a tag to remove, like -TAG; may follow the ids",
      repeatable: true,
    },
  },
  columns: COLUMNS,
  run(deps, { words, added, removed }) {
    const signed = [...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)];
    const { ids, add, remove } = readTagWords([...signed, ...words]);
    return changeResponses(deps, ids, COLUMNS, {
      plan(row) {
        const tags = tagsOf(row).map(tagName);
        // The request replaces all tags, so one that can't be sent back would be removed.
        if (tags.includes(null)) throw new NothingFoundError("its tags are of a kind that cannot be sent back");
        const now = tags.filter((name) => name !== null);
        const wanted = [...new Set([...now.filter((name) => !remove.includes(name)), ...add])];
        return isSame(now, wanted) ? null : { tags: wanted };
      },
      isRepeatable: true,
      isTaken: (row, { tags }) => isSame(tagsOf(row).map(tagName), Array.isArray(tags) ? tags : []),
      show: (row) => ({ tags: [...tagsOf(row)] }),
    });
  },
});

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
  if (ids.length === 0) throw new UsageError("responses tag: specify one id or more");
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
