import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { SCORE_MAX, SCORE_MIN } from "../../../contract/limits.ts";
import { parseScore } from "../../args/values.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { CHANGE_EXITS, changedColumns, changeResponses } from "./change.ts";
import { commentOf } from "./selection/row-filters.ts";

const COLUMNS = changedColumns("score", "comment");

interface ResponsesUpdateOptions {
  readonly id: string;
  /** 0 to 10; null leaves it. */
  readonly score: number | null;
  /** Null leaves it; empty removes it. */
  readonly comment: string | null;
}

export function registerResponsesUpdate(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "update",
    summary: "change the score or the comment of a response",
    operands: [["<id>", "the response's id"]],
    examples: ["surveyctl responses update 42 --score 8", `surveyctl responses update 42 --comment 'Great support'`],
    exits: CHANGE_EXITS,
    flags: [
      { flag: "--score", value: "n", text: `the new score, ${SCORE_MIN} to ${SCORE_MAX}` },
      { flag: "--comment", value: "text", text: "the new comment; an empty one removes it" },
    ],
    columns: COLUMNS,
  });
  context.action(command, (deps, flags, [id = ""]) =>
    runResponsesUpdate(deps, { id, score: flags.parse("--score", parseScore), comment: flags.text("--comment") }),
  );
}

async function runResponsesUpdate(deps: Deps, { id, score, comment }: ResponsesUpdateOptions): Promise<ExitCode> {
  if (score === null && comment === null) throw new UsageError("nothing to change: specify --score or --comment");
  const isWanted = (row: JsonObject): boolean =>
    (score === null || row["score"] === score) && (comment === null || commentOf(row) === comment);
  const body = {
    ...(score === null ? {} : { score }),
    ...(comment === null ? {} : { comment: comment === "" ? null : comment }),
  };
  return changeResponses(deps, [id], COLUMNS, {
    plan: (row) => (isWanted(row) ? null : body),
    isRepeatable: true,
    isTaken: isWanted,
    show: ({ score: now = null, comment: said = null }) => ({ score: now, comment: said }),
  });
}
