import type { JsonObject } from "../../../../contract/json.ts";
import { SCORE_MAX, SCORE_MIN } from "../../../../contract/limits.ts";
import { parseScore } from "../../../args/values.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { commentOf } from "../../shared/row-filters.ts";
import { changedColumns, changeResponses } from "./change.ts";

const COLUMNS = changedColumns("score", "comment");

export const update = defineCommand({
  name: "update",
  summary: "change the score or the comment of a response",
  examples: ["surveyctl responses update 42 --score 8", `surveyctl responses update 42 --comment 'Great support'`],
  args: { id: { form: "<id>", text: "the response's id" } },
  flags: {
    score: { value: "n", text: `the new score, ${SCORE_MIN} to ${SCORE_MAX}`, parse: parseScore },
    comment: { value: "text", text: "the new comment; an empty one removes it" },
  },
  columns: COLUMNS,
  run(deps, { id, score, comment }) {
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
  },
});
