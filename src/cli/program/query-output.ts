import { compile, isRegistered, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath";
import { parseWithAllDigits } from "../../contract/long-numbers.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { FilterError } from "../errors/command-errors.ts";
import { UsageError } from "../errors/usage-error.ts";
import { writeText } from "../render/safe-text.ts";
import type { Output } from "../streams/streams.ts";

export interface QueryOutput {
  readonly out: Output;
  /** If the query fails, prints the output unchanged and throws FilterError. */
  end(): Promise<void>;
  /** Used after a failed command, so that a failing query doesn't hide the command's own error. */
  endFailed(): Promise<void>;
}

/** Accepts a leading dot, as in jq. Throws UsageError for an invalid expression. */
export function openQueryOutput(expression: string, out: Output): QueryOutput {
  const evaluate = readExpression(expression);
  const parts: string[] = [];
  const decoder = new TextDecoder();
  const end = async (): Promise<void> => {
    for (const value of readDocuments(parts.join("")).map(evaluate))
      await writeText(out, `${typeof value === "string" ? value : JSON.stringify(value)}\n`);
  };
  return {
    out: {
      isTTY: out.isTTY,
      columns: out.columns,
      write: async (part) => {
        parts.push(typeof part === "string" ? part : decoder.decode(part, { stream: true }));
      },
    },
    end: () =>
      end().catch(async (error: unknown) => {
        if (error instanceof FilterError) await writeText(out, parts.join(""));
        throw error;
      }),
    endFailed: () =>
      end().catch((error: unknown) => {
        if (!(error instanceof FilterError)) throw error;
      }),
  };
}

function readExpression(expression: string): (value: JSONValue) => JSONValue {
  const bad = (reason: string): UsageError =>
    new UsageError(`--query: ${quoteText(expression)} is not a JMESPath expression: ${reason}`, {
      hint: "as in: --query '[].email' or --query nps",
    });
  const plain = expression.trim().replace(/^\.(?!\.)/, "");
  try {
    const tree = compile(plain === "" && expression.includes(".") ? "@" : plain);
    const unknown = functionsOf(tree).find((name) => !isRegistered(name));
    if (unknown !== undefined) throw new Error(`unknown function ${unknown}()`);
    return (value) => {
      try {
        return TreeInterpreter.search(tree, value);
      } catch (error) {
        throw new FilterError(`${quoteText(expression)} does not suit its output: ${reasonOf(error)}`, error);
      }
    };
  } catch (error) {
    throw bad(reasonOf(error));
  }
}

function functionsOf(tree: unknown): string[] {
  if (typeof tree !== "object" || tree === null) return [];
  const below = Object.values(tree).flatMap(functionsOf);
  return "type" in tree && tree.type === "Function" && "name" in tree ? [String(tree.name), ...below] : below;
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^Syntax error: invalid token \(EOF\): ""/, "it ends too early").replace(/\.$/, "");
}

/** Accepts several documents, because `--dry-run` prints one per line. */
function readDocuments(text: string): JSONValue[] {
  const whole = parse(text);
  if (whole !== undefined) return [whole];
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = lines.map(parse);
  const found = values.filter((value) => value !== undefined);
  if (found.length < values.length) throw new FilterError("its output is not JSON");
  return found;
}

function parse(text: string): JSONValue | undefined {
  try {
    return parseWithAllDigits(text) as JSONValue;
  } catch {
    return undefined;
  }
}
