/** Segment's own table of the closed service has one row per answered question. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openPastStore, type PastStore } from "../../helpers/past-store.ts";

let store: PastStore;

beforeEach(async () => {
  store = await openPastStore();
});
afterEach(async () => store.close());

const COLUMNS = (
  "id event user_id received_at timestamp context_library_name context_traits_delighted_person_id " +
  "context_traits_email survey_id survey_type survey_medium survey_question_id survey_question_text " +
  "survey_question_answer survey_permalink survey_tags survey_properties_plan"
).split(" ");
const SEGMENT = "survey_question_answered";

function table(...rows: readonly Readonly<Record<string, string>>[]): string {
  const shared = {
    event: SEGMENT,
    received_at: "2025-02-03 04:05:09 UTC",
    timestamp: "2025-02-03 04:05:06 UTC",
    context_library_name: "http",
    survey_type: "NPS",
    survey_medium: "Email",
    survey_properties_plan: "pro",
  };
  const line = (row: Readonly<Record<string, string>>): string =>
    COLUMNS.map((name) => `"${(row[name] ?? "").replaceAll('"', '""')}"`).join(",");
  return `${[COLUMNS.join(","), ...rows.map((row) => line({ ...shared, ...row }))].join("\n")}\n`;
}

const ada = { context_traits_delighted_person_id: "41", context_traits_email: "ada@example.com", survey_id: "901" };
const bo = { context_traits_delighted_person_id: "42", context_traits_email: "bo@example.com", survey_id: "902" };
const answered = table(
  { ...ada, survey_question_id: "comment", survey_question_answer: "Slow", timestamp: "2025-02-03 04:05:07 UTC" },
  { ...ada, survey_question_id: "score", survey_question_answer: "9", survey_tags: '["vip"]' },
  { ...ada, survey_question_id: "comment", survey_question_answer: "Quick.", timestamp: "2025-02-03 04:05:30 UTC" },
  { ...ada, survey_question_id: "q7", survey_question_text: "Which?", survey_question_answer: "All of it" },
  { ...bo, survey_question_id: "score", survey_question_answer: "3" },
);

describe("a table survey_question_answered", () => {
  test.for([
    ["recognised", {}],
    ["named", { format: "segment", stream: "responses" }],
  ] as const)("when it is %s, then scores, comments and other answers become responses", async ([, named]) => {
    const seen = await store.import({ "a.csv": answered }, named);
    expect([seen.exit, seen.err]).toEqual([0, "note: a.csv: columns not kept: survey_medium (5 rows)\n"]);
    expect(JSON.parse(seen.out)).toMatchObject({
      streams: [
        { stream: "responses", read: 2, kept: 2 },
        { stream: "answers", read: 1, merged: 1 },
        { stream: "comments", read: 2, merged: 2 },
      ],
      people: 2,
      nps: 0,
    });
    const again = await store.import({ "a.csv": answered }, named);
    expect(JSON.parse(again.out)).toMatchObject({ streams: [{ kept: 0, unchanged: 2, conflicts: 0 }, {}, {}] });
    const { people, responses } = await store.dump();
    expect(people?.map(({ id, email }) => [id, email])).toEqual([
      [41, "ada@example.com"],
      [42, "bo@example.com"],
    ]);
    const values = responses?.map((row) => [row.id, row.person_id, row.survey_type, row.score, row.comment]);
    expect(values).toEqual([
      [901, 41, "nps", 9, "Quick."],
      [902, 42, "nps", 3, null],
    ]);
    expect(responses?.[0]).toMatchObject({
      created_at: 1_738_555_506,
      person_properties: '{"plan":"pro"}',
      tags: '["vip"]',
    });
    expect(JSON.parse(String(responses?.[0]?.additional_answers))).toEqual([
      {
        id: "q7",
        value: { free_response: "All of it", scale: null, select_one: null, select_many: null },
        question: { id: "q7", type: "free_response", text: "Which?" },
      },
    ]);
  });

  test("when it has no answers, then it is refused and makes no people", async () => {
    const bare =
      "survey_id,context_traits_email,survey_permalink,timestamp\n901,ada@example.com,https://x.example/1,2025-02-03\n";
    const seen = await store.import({ "a.csv": bare });
    expect([seen.exit, seen.error]).toEqual([
      null,
      expect.stringMatching(/^a\.csv: not a known shape .*; nearest: segment responses, which needs score$/),
    ]);
    const forced = await store.import({ "a.csv": bare }, { format: "segment", stream: "people" });
    expect(forced.exit).toBe(0);
    expect(((await store.dump()).people ?? []).map(({ email }) => email)).toEqual(["ada@example.com"]);
  });
});

test("when rows have an id beside their person's and no score, then they make no people", async () => {
  const seen = await store.import({
    "a.csv": "id,person_id,email,comment,created_at\n7,41,ada@example.com,Good,1700000000\n",
  });
  expect([seen.exit, seen.error]).toEqual([
    null,
    expect.stringMatching(/^a\.csv: not a known shape .*; nearest: (?:api|csv) responses, which needs score$/),
  ]);
});
