/** Faults in answers and the figures that are made of them. */
import { answerSurvey, type noteLook } from "../../../src/service/domain/answers/answers.ts";
import type { createResponseRows } from "../../../src/service/store/sql/rows/answers/response-rows.ts";
import type { deleteRows } from "../../../src/service/sql/lists/counted-rows.ts";
import { fault } from "./plant.ts";

const ANSWERS = "service/domain/answers/answers.ts";
const RESPONSE_ROWS = "service/store/sql/rows/answers/response-rows.ts";
const WINDOW_SECONDS = 30 * 86_400;

export const ANSWER_FAULTS = [
  fault<typeof noteLook>(
    "whoever looks at a page has answered",
    [ANSWERS, "noteLook"],
    (original) => async (tx, token, look) => {
      await original(tx, token, look);
      if (look.score !== null) await answerSurvey(tx, token, { score: look.score, by: "script" }, WINDOW_SECONDS);
    },
  ),
  fault<typeof createResponseRows>(
    "a second answer changes nothing",
    [RESPONSE_ROWS, "createResponseRows"],
    (original) => (database) => ({ ...original(database), update: async () => undefined }),
  ),
  fault<typeof createResponseRows>(
    "an answer goes to the next person",
    [RESPONSE_ROWS, "createResponseRows"],
    (original) => (database) => {
      const rows = original(database);
      const last = { id: 0 };
      return {
        ...rows,
        insert: (project, row) => {
          const personId = last.id === 0 ? row.personId : last.id;
          last.id = row.personId;
          return rows.insert(project, { ...row, personId });
        },
      };
    },
  ),
  fault<typeof deleteRows>(
    "what is deleted stays in the counts",
    ["service/sql/lists/counted-rows.ts", "deleteRows"],
    (original) =>
      async (database, ...what) => {
        const counted = database.counts.mark();
        const deleted = await original(database, ...what);
        database.counts.restore(counted);
        return deleted;
      },
  ),
];
