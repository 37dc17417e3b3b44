import { TimeoutError } from "../../../../src/client/errors/timeout-error.ts";
import { UnknownOutcomeError } from "../../../../src/client/errors/unknown-outcome-error.ts";
import { describe, expect, it } from "vitest";
import { runResponsesAdd, type ResponsesAddOptions } from "../../../../src/cli/commands/responses/add.ts";
import { runResponsesList, type ResponsesListOptions } from "../../../../src/cli/commands/responses/list.ts";
import { answered, fakeClient, type Answers } from "../../../helpers/fake-client.ts";
import { fakeDeps, type FakeOptions } from "../../../helpers/fake-deps.ts";
import { SAMPLE_PEOPLE, SAMPLE_RESPONSES } from "../../../helpers/sample-rows.ts";

const LIST: ResponsesListOptions = {
  limits: { limit: 50, perPage: null },
  since: null,
  until: null,
  updatedSince: null,
  updatedUntil: null,
  trend: null,
  personId: null,
  personEmail: null,
  order: null,
  expand: null,
};
const ADD: ResponsesAddOptions = {
  personId: null,
  personEmail: null,
  score: 9,
  comment: null,
  properties: [],
  createdAt: null,
};
const ADDED = SAMPLE_RESPONSES[0] ?? {};

function world(answers: Answers, options: FakeOptions = {}) {
  const { client, calls } = fakeClient(answers);
  return { calls, ...fakeDeps({ client, ...options }) };
}

describe("responses list", () => {
  it("filters as the API names it", async () => {
    const { deps, calls } = world({});
    const filters = {
      since: 1,
      until: 2,
      updatedSince: 3,
      updatedUntil: 4,
      trend: "t",
      personId: "7",
      personEmail: "a@b.co",
    };
    await runResponsesList(deps, { ...LIST, ...filters, order: "desc:updated_at", expand: ["notes"] });
    const named = {
      since: 1,
      until: 2,
      updated_since: 3,
      updated_until: 4,
      trend: "t",
      person_id: "7",
      person_email: "a@b.co",
    };
    expect(calls).toEqual([
      { call: "listResponses", parameters: { ...named, order: "desc:updated_at", expand: ["notes"], per_page: 50 } },
    ]);
  });

  it.each<[FakeOptions, string[] | null]>([
    [{ width: 80 }, ["person", "notes"]],
    [{}, ["person", "notes"]],
    [{ options: { output: "csv" } }, ["person", "notes"]],
    [{ options: { output: "csv", columns: ["id", "score"] } }, null],
    [{ options: { output: "json" } }, null],
    [{ options: { output: "json", columns: ["person.email"] } }, ["person", "notes"]],
  ])("with %j asks for %j to be expanded", async (options, expand) => {
    const { deps, calls } = world({}, options);
    await runResponsesList(deps, LIST);
    expect(calls).toMatchObject([{ parameters: { expand } }]);
  });
});

describe("responses add", () => {
  it("sends what was given and shows the answer", async () => {
    const { deps, calls, out } = world({ write: answered(ADDED) }, { options: { output: "json" } });
    const properties = [["plan", "pro"]] as const;
    expect(await runResponsesAdd(deps, { ...ADD, personId: "7", comment: "Good", properties, createdAt: 5 })).toBe(0);
    expect([calls, out()]).toEqual([
      [
        {
          call: "addResponse",
          parameters: { person: "7", score: 9, person_properties: { plan: "pro" }, comment: "Good", created_at: 5 },
        },
      ],
      `${JSON.stringify(ADDED)}\n`,
    ]);
  });

  it("looks the person up by e-mail, also for a dry run", async () => {
    const { deps, calls, out } = world({ pages: [[SAMPLE_PEOPLE[1] ?? {}]] }, { options: { dryRun: true } });
    expect(await runResponsesAdd(deps, { ...ADD, personEmail: "person2@example.com", score: 0 })).toBe(0);
    expect([calls, out()]).toEqual([
      [{ call: "listPeople", parameters: { email: "person2@example.com" } }],
      '{"method":"POST","url":"https://survey.example.com/v1/survey_responses.json","body":{"person":"2","score":0}}\n',
    ]);
  });

  it("fails when there is nobody of that e-mail", async () => {
    const { deps, calls } = world({ pages: [[]] });
    await expect(runResponsesAdd(deps, { ...ADD, personEmail: "no@body.co" })).rejects.toMatchObject({
      name: "NotFoundError",
      message: "no person no@body.co",
      hint: "add them first: surveyctl people add --email no@body.co --no-send",
    });
    expect(calls).toHaveLength(1);
  });

  it.each([{}, { personId: "7", personEmail: "a@b.co" }])("refuses %j", async (options) => {
    await expect(runResponsesAdd(fakeDeps().deps, { ...ADD, ...options })).rejects.toMatchObject({
      name: "UsageError",
      message: "exactly one of --person-id and --person-email is needed",
    });
  });

  it("never lets a lost answer look like a failure", async () => {
    const call = { method: "POST", url: "https://survey.example.com/v1/survey_responses.json" };
    const lost = new UnknownOutcomeError(new TimeoutError("no answer", { call, sent: "maybe" }), null);
    const { deps } = world({ write: { kind: "unknown", error: lost } });
    await expect(runResponsesAdd(deps, { ...ADD, personId: "7" })).rejects.toMatchObject({
      name: "UnknownOutcomeError",
      hint: 'look with "surveyctl responses list --person-id 7" before trying again: a repeat would count twice',
    });
  });
});
