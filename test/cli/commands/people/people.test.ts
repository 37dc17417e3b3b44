import { describe, expect, it } from "vitest";
import { ConnectionError } from "../../../../src/client/errors/call-errors.ts";
import { RefusedError, ServiceError } from "../../../../src/client/errors/call-errors.ts";
import { TimeoutError } from "../../../../src/client/errors/call-errors.ts";
import type { WriteResult } from "../../../../src/client/client.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { UNKNOWN_REASON } from "../../../../src/contract/text/survey-status.ts";
import { UnknownOutcomeError } from "../../../../src/client/errors/call-errors.ts";
import type { Deps } from "../../../../src/cli/kit/deps.ts";
import { parsePerson } from "../../../../src/cli/args/people.ts";
import { answered, type Answers, asReply, fakeClient } from "../../../helpers/fake-client.ts";
import { fakeDeps, type FakeOptions } from "../../../helpers/fake-deps.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { SAMPLE_PEOPLE } from "../../../helpers/sample-rows.ts";

const people = (deps: Deps, ...words: readonly string[]) => runCommand(deps, ["people", ...words]);
/** `--create` avoids looking the person up first. */
const change = (deps: Deps, ...words: readonly string[]) => people(deps, "update", "a@b.co", "--create", ...words);
const ADA = ["--email", "ada@example.com"];
const SENT = {
  id: "7",
  email: "ada@example.com",
  name: null,
  survey_scheduled_at: 1_767_225_600,
  properties: { plan: "pro" },
};

function world(answers: Answers, options: FakeOptions = {}) {
  const { client, calls } = fakeClient(answers);
  return { calls, ...fakeDeps({ client, ...options }) };
}

describe("people add", () => {
  it("sends what was given, in the specification's order, and shows the answer", async () => {
    const { deps, calls, out, err } = world({ write: answered(SENT) });
    const who = [...ADA, "--phone", "+14155550101", "--new-email", "new@example.com", "--new-phone", "+14155550102"];
    const survey = ["--channel", "sms", "--name", "Ada", "--delay", "60", "--last-sent-at", "5"];
    const properties = ["--properties", '{"plan":"free","n":1}', "--property", "plan=pro", "--locale", "xx"];
    const status = await people(deps, "add", ...who, ...survey, ...properties);
    expect({ status, calls, out: out(), err: err() }).toEqual({
      status: 0,
      calls: [
        {
          call: "sendPerson",
          parameters: {
            email: "ada@example.com",
            phone_number: "+14155550101",
            channel: "sms",
            name: "Ada",
            delay: 60,
            properties: { plan: "pro", n: 1, locale: "xx" },
            last_sent_at: 5,
            email_update: "new@example.com",
            phone_number_update: "+14155550102",
          },
        },
      ],
      out: 'id\t7\nemail\tada@example.com\nname\t\nsurvey_scheduled_at\t2026-01-01T00:00:00Z\nproperties\t{"plan":"pro"}\n',
      err: 'warning: --locale: "xx" is not a supported locale; the survey falls back to en\n',
    });
  });

  it("renames first and saves the rest under the new address where no survey is wanted", async () => {
    const { deps, calls } = world({ write: answered(SENT) });
    const rest = ["--name", "Ada", "--property", "plan=pro", "--last-sent-at", "5"];
    const renamed = ["--email", "a@b.co", "--phone", "+14155550101", "--new-email", "c@b.co", "--no-send"];
    await people(deps, "add", ...renamed, ...rest);
    const kept = { phone_number: "+14155550101", name: "Ada", properties: { plan: "pro" }, last_sent_at: 5 };
    expect(calls.map(({ parameters }) => parameters)).toEqual([
      { email: "a@b.co", send: false, email_update: "c@b.co" },
      { email: "c@b.co", send: false, ...kept },
    ]);
  });

  it("is a record of two columns on a terminal, and shows fields that it does not know", async () => {
    const { deps, out } = world({ write: answered({ ...SENT, later: { x: 1 } }) }, { width: 80 });
    await people(deps, "add", ...ADA);
    expect(out()).toBe(
      [
        "id                   7",
        "email                ada@example.com",
        "name                 –",
        "survey_scheduled_at  2026-01-01 00:00:00",
        "properties           plan=pro",
        "later                x=1",
        "",
      ].join("\n"),
    );
  });

  it.each<[string, Partial<JsonObject>, Record<string, string>, string, string]>([
    ["a service that does not say why", { survey_scheduled_at: null }, {}, "", UNKNOWN_REASON],
    [
      "our own",
      { survey_scheduled_at: null },
      { "x-survey-status": "throttled; until=1797768000; since=1795176000" },
      ',"survey_status":"throttled","survey_status_until":1797768000',
      "not scheduled: surveyed on 2026-11-20, throttled until 2026-12-20",
    ],
    [
      "our own, of somebody who left",
      { survey_scheduled_at: null },
      { "x-survey-status": "unsubscribed; since=1795176000" },
      ',"survey_status":"unsubscribed","survey_status_until":null',
      "not scheduled: unsubscribed on 2026-11-20",
    ],
  ])("says in a pipe that %s scheduled no survey", async (_, answer, headers, fields, words) => {
    const json = { ...SENT, ...answer } as JsonObject;
    const write: WriteResult = { kind: "answered", reply: { ...asReply(json), headers }, lostBefore: false };
    const { deps, out, err } = world({ write }, { options: { output: "json", timeZone: "UTC" } });
    expect(await people(deps, "add", ...ADA)).toBe(0);
    expect([out(), err()]).toEqual([`${JSON.stringify(json).slice(0, -1)}${fields}}\n`, `Saved, ${words}.\n`]);
  });

  it("says that a survey waits while sending is paused", async () => {
    const headers = { "x-survey-status": "paused; since=1795176000" };
    const write: WriteResult = { kind: "answered", reply: { ...asReply(SENT), headers }, lostBefore: false };
    const { deps, err } = world({ write }, { options: { timeZone: "UTC" } });
    await people(deps, "add", ...ADA);
    expect(err()).toBe("Scheduled, but nothing is sent at present: paused since 2026-11-20 12:00.\n");
  });

  it("says nothing of a survey that was not wanted", async () => {
    const { deps, err } = world({ write: answered({ ...SENT, survey_scheduled_at: null }) });
    await people(deps, "add", ...ADA, "--no-send");
    expect(err()).toBe("");
  });

  it("prints the request and sends nothing under --dry-run", async () => {
    const { deps, calls, out } = world({}, { options: { dryRun: true } });
    expect(await people(deps, "add", ...ADA, "--no-send")).toBe(0);
    expect(calls).toEqual([]);
    expect(out()).toBe(
      '{"method":"POST","url":"https://survey.example.com/v1/people.json","body":{"email":"ada@example.com","send":false}}\n',
    );
  });

  it.each<[string[], string]>([
    [[], "specify --email or --phone"],
    [["--email", "a@b.co", "--channel", "sms"], "--channel sms requires --phone"],
    [["--phone", "+14155550101", "--new-email", "a@b.co"], "--new-email requires --email"],
    [["--email", "a@b.co", "--new-phone", "+14155550101"], "--new-phone requires --phone"],
    [
      ["--email", "a@b.co", "--email-subject", "é".repeat(151)],
      "--email-subject: service_email_subject has 151 characters; at most 150 are allowed",
    ],
    [
      ["--email", "a@b.co", "--property", `delighted_intro_message=${"x".repeat(301)}`],
      "--intro-message: delighted_intro_message has 301 characters; at most 300 are allowed",
    ],
  ])("%j is refused before anything is sent", async (words, message) => {
    await expect(people(fakeDeps().deps, "add", ...words)).rejects.toMatchObject({ name: "UsageError", message });
  });

  it("takes texts of exactly the longest length, counted in characters", async () => {
    const { deps } = world({ write: answered(SENT) });
    const texts = ["--email-subject", "👍".repeat(150), "--intro-message", "x".repeat(300)];
    expect(await people(deps, "add", "--email", "a@b.co", ...texts)).toBe(0);
  });

  it("says by which evidence a lost answer is known to have arrived", async () => {
    const found = SAMPLE_PEOPLE[1] ?? {};
    const { deps, out, err } = world(
      { write: { kind: "arrived", evidence: "a survey is scheduled for 13:00", found } },
      { options: { output: "json" } },
    );
    expect(await people(deps, "add", "--email", "a@b.co")).toBe(0);
    expect([out(), err()]).toEqual([
      `${JSON.stringify(found)}\n`,
      "note: the answer was lost, but the request arrived: a survey is scheduled for 13:00\n",
    ]);
  });

  it("says that nobody knows, and where to look, when no look-up could settle it", async () => {
    const { deps, out } = world({
      write: { kind: "unknown", error: lostWrite() },
    });
    await expect(people(deps, "add", "--email", "a@b.co")).rejects.toMatchObject({
      name: "UnknownOutcomeError",
      message: expect.stringMatching(
        /^the request may or may not have been processed: no answer; a reason: POST/,
      ) as string,
      hint: 'look with "surveyctl people get a@b.co" before trying again: a survey may already be scheduled',
    });
    expect(out()).toBe("");
  });
});

function lostWrite(): UnknownOutcomeError {
  const call = { method: "POST", url: "https://survey.example.com/v1/people.json" };
  return new UnknownOutcomeError(new TimeoutError("no answer", { call, sent: "maybe" }), "a reason");
}

describe("people update", () => {
  it("never sends a survey", async () => {
    const { deps, calls } = world({ write: answered(SENT) });
    await people(deps, "update", "+14155550101", "--create", "--name", "Ada", "--new-phone", "+14155550102");
    expect(calls).toEqual([
      {
        call: "sendPerson",
        parameters: { phone_number: "+14155550101", send: false, phone_number_update: "+14155550102" },
      },
      { call: "sendPerson", parameters: { phone_number: "+14155550102", name: "Ada", send: false } },
    ]);
  });

  const [one, two] = ["+14155550101", "+14155550102"];
  it.each([
    [
      ["a@b.co", "--new-email", "c@b.co", "--new-phone", two],
      { email: "a@b.co" },
      [
        { email: "a@b.co", send: false, email_update: "c@b.co" },
        { email: "c@b.co", phone_number: two, send: false },
      ],
    ],
    [
      [one, "--new-email", "c@b.co"],
      { email: null, phone_number: one },
      [{ email: "c@b.co", phone_number: one, send: false }],
    ],
    [
      [one, "--new-email", "c@b.co"],
      { email: "a@b.co", phone_number: one },
      [{ email: "a@b.co", send: false, email_update: "c@b.co" }],
    ],
    [
      ["a@b.co", "--new-phone", two],
      { email: "a@b.co", phone_number: one },
      [{ phone_number: one, send: false, phone_number_update: two }],
    ],
    [
      [one, "--new-email", "c@b.co", "--new-phone", two, "--name", "Ada"],
      { email: "a@b.co", phone_number: one },
      [
        { email: "a@b.co", phone_number: one, send: false, email_update: "c@b.co", phone_number_update: two },
        { email: "c@b.co", phone_number: two, name: "Ada", send: false },
      ],
    ],
  ])("when it is %j of %j, then it says old and new as the specification does", async (words, row, bodies) => {
    const { deps, calls } = world({ pages: [[row]], write: answered(SENT) });
    await people(deps, "update", "--create", ...words);
    const expected = bodies.map((parameters) => ({ call: "sendPerson", parameters }));
    const named = words[0] === one ? { phone_number: one } : { email: "a@b.co" };
    expect(calls).toEqual([{ call: "listPeople", parameters: named }, ...expected]);
  });

  const call = { method: "POST", url: "https://survey.example.com/v1/people.json" };
  it.each([
    ["an answer that never came", new TimeoutError("no answer", { call, sent: "maybe" }), true],
    ["a connection that broke", new ConnectionError("it broke", { call, sent: "maybe" }), true],
    ["a failing service", new ServiceError("it answered 500", { call, status: 500, details: null }), true],
    ["a connection that never was", new ConnectionError("refused", { call, sent: "no" }), false],
    ["a refusal", new RefusedError("it answered 422", { call, status: 422, details: null }), false],
  ])("when every try ends with %s, then it says whether one may have arrived", async (_, error, mayHaveArrived) => {
    const { deps } = fakeDeps({ client: { sendPerson: () => Promise.reject(error) } });
    const update = change(deps, "--name", "Ada");
    const hint = 'look with "surveyctl people get a@b.co"; saving again is safe';
    await expect(update).rejects.toEqual(mayHaveArrived ? new UnknownOutcomeError(error, null).advise(hint) : error);
  });

  it("when a change of address is lost, then its repeat is not called safe", async () => {
    const { deps } = world({ write: { kind: "unknown", error: lostWrite() } });
    const update = change(deps, "--new-email", "c@b.co");
    await expect(update).rejects.toMatchObject({ hint: 'look with "surveyctl people get a@b.co" before trying again' });
  });

  it.each([false, true])("when nobody has the address, then nothing is sent, dry run %s", async (dryRun) => {
    const { deps, calls, out } = world({ pages: [[]] }, { options: { dryRun } });
    await expect(people(deps, "update", "a@b.co", "--name", "Ada")).rejects.toMatchObject({
      name: "NothingFoundError",
      message: "no person found with email a@b.co",
      hint: "check the spelling, or pass --create to add a new person",
    });
    expect([calls, out()]).toEqual([[{ call: "listPeople", parameters: { email: "a@b.co" } }], ""]);
  });

  it("when somebody has the number, then the change follows the look-up", async () => {
    const { deps, calls } = world({ pages: [[SAMPLE_PEOPLE[0] ?? {}]], write: answered(SENT) });
    expect(await people(deps, "update", "+14155550101", "--name", "Ada")).toBe(0);
    expect(calls.map((each) => each.call)).toEqual(["listPeople", "sendPerson"]);
  });

  it("refuses to change nothing", async () => {
    await expect(change(fakeDeps().deps)).rejects.toMatchObject({
      name: "UsageError",
      message: "nothing to change: specify --name, --property, --properties, --new-email or --new-phone",
    });
  });
});

describe("people get", () => {
  it("shows the person as the service sent it", async () => {
    const { deps, out, calls } = world({ pages: [[SAMPLE_PEOPLE[0] ?? {}]] }, { options: { output: "json" } });
    expect(await people(deps, "get", "+14155550101")).toBe(0);
    expect([calls, out()]).toEqual([
      [{ call: "listPeople", parameters: { phone_number: "+14155550101", expand: ["properties"] } }],
      `${JSON.stringify(SAMPLE_PEOPLE[0])}\n`,
    ]);
  });

  it.each([
    ["csv", "email,created_at\nperson1@example.com,2026-01-01T00:00:00Z\n"],
    ["tsv", "person1@example.com\t2026-01-01T00:00:00Z\n"],
    ["ndjson", '{"email":"person1@example.com","created_at":1767225600}\n'],
    ["json", '{"email":"person1@example.com","created_at":1767225600}\n'],
    ["table", "email       person1@example.com\ncreated_at  2026-01-01 00:00:00\n"],
  ] as const)("shows the columns that were asked for as %s", async (output, expected) => {
    const { deps, out } = world(
      { pages: [[SAMPLE_PEOPLE[0] ?? {}]] },
      { options: { output, columns: ["email", "created_at"] } },
    );
    await people(deps, "get", "person1@example.com");
    expect(out()).toBe(expected);
  });

  it("fails when there is none", async () => {
    const { deps, out } = world({ pages: [[]] });
    await expect(people(deps, "get", "no@body.co")).rejects.toMatchObject({
      name: "NothingFoundError",
      message: "no person found with email no@body.co",
    });
    expect(out()).toBe("");
  });

  it.each(["ada", "4155550101", "+1 415 555 0101", ""])("%j names nobody", (text) => {
    expect(() => parsePerson(text, "person")).toThrow(`person: ${JSON.stringify(text)} is not`);
  });
});

it("when the operand is an id, then it says that people cannot be looked up by it, and what can", async () => {
  await expect(people(fakeDeps().deps, "get", "2")).rejects.toMatchObject({
    message: 'person: "2" is an id, and this API cannot look people up by id',
    hint: "use an email address or a phone number; surveyctl responses list --person-id 2 shows whose id it is",
  });
});

it.each([
  ["the new address is taken", "email_update", "has already been taken", "another person already has the email c@b.co"],
  ["the person does not exist", "email", "does not exist", "no person found with email a@b.co"],
])("when %s, then it says so in the terms of the command", async (_, attribute, complaint, told) => {
  const call = { method: "POST", url: "https://survey.example.com/v1/people.json" };
  const details = { errors: { [attribute]: [complaint] } };
  const what = `the service answered 422 "${attribute} ${complaint}"`;
  const sendPerson = () => Promise.reject(new RefusedError(what, { call, status: 422, details }));
  const { deps } = fakeDeps({ client: { sendPerson } });
  const update = change(deps, "--new-email", "c@b.co");
  await expect(update).rejects.toMatchObject({ what: told, status: 422 });
});

describe("people list", () => {
  it("filters as the API names it", async () => {
    const { deps, calls } = world({});
    const range = ["--since", "1", "--until", "2", "--phone", "+14155550101"];
    await people(deps, "list", "--all", "--per-page", "7", ...range);
    expect(calls).toEqual([
      {
        call: "listPeople",
        parameters: { since: 1, until: 2, email: null, phone_number: "+14155550101", per_page: 7 },
      },
    ]);
  });

  it("refuses both --email and --phone", async () => {
    await expect(people(fakeDeps().deps, "list", "--email", "a@b.co", "--phone", "+14155550101")).rejects.toMatchObject(
      {
        name: "UsageError",
        message: "--email and --phone cannot be used together",
      },
    );
  });
});
