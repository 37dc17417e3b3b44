import type { JsonObject } from "../../contract/json.ts";
import { isNumeric } from "../../contract/column-kinds.ts";
import { withAllDigits } from "../../contract/long-numbers.ts";
import { selectColumns, type Column, type Resource, type ListOutput, type RenderContext } from "./columns.ts";
import { toHumanText } from "./human.ts";
import { timeFormatterFor } from "./time.ts";

export function openMarkdown(context: RenderContext, resource: Resource): ListOutput {
  const { streams, options } = context;
  const columns = selectColumns(resource, options.columns ?? resource.table ?? null);
  const time = timeFormatterFor(context, "local");
  let head = toMarkdown(
    columns.map(({ name }) => name),
    columns.map((column) => (isNumeric(column) ? "--:" : "---")),
  );
  const write = (text: string): Promise<void> => {
    const all = head + text;
    head = "";
    return streams.out.write(all);
  };
  const toCells = (row: JsonObject): string[] => columns.map((column) => toHumanText(column, column.read(row), time));
  return {
    write: (page) =>
      write(
        withAllDigits(page)
          .map((row) => toMarkdown(toCells(row)))
          .join(""),
      ),
    end: () => write(""),
  };
}

export function drawMarkdown(context: RenderContext, columns: readonly Column[], json: JsonObject): string {
  const time = timeFormatterFor(context, "local");
  const cells = columns.map((column) => [column.name, toHumanText(column, column.read(json), time)]);
  return toMarkdown(["field", "value"], ["---", "---"], ...cells);
}

/** These characters would end a cell or start markup or HTML. */
const SPECIAL = /[\\|`*<[\]~]/g;

function toMarkdown(...rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `| ${cells.map((cell) => cell.replace(SPECIAL, "\\$&")).join(" | ")} |\n`).join("");
}
