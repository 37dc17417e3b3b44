/** Faults in answers and metrics. */
import { answerSurvey, type noteLook } from "../../../src/service/domain/answers/answers.ts";
import type { ResponseRows } from "../../../src/service/domain/answers/response-rows.ts";
import type { deleteRows } from "../../../src/service/sql/lists/counted-rows.ts";
import { fault } from "./plant.ts";

const ANSWERS = "service/domain/answers/answers.ts";
const RESPONSE_ROWS = "service/domain/answers/response-rows.ts";
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
  fault<typeof ResponseRows>(
    "a second answer changes nothing",
    [RESPONSE_ROWS, "ResponseRows"],
    (Original) =>
      class extends Original {
        override async update(): Promise<void> {}
      },
  ),
  fault<typeof ResponseRows>(
    "an answer goes to the next person",
    [RESPONSE_ROWS, "ResponseRows"],
    (Original) =>
      class extends Original {
        lastId = 0;
        override async insert(...[project, row]: Parameters<ResponseRows["insert"]>): Promise<number> {
          const personId = this.lastId === 0 ? row.personId : this.lastId;
          this.lastId = row.personId;
          return super.insert(project, { ...row, personId });
        }
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
