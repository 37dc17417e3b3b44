import { describe, expect, it } from "vitest";
import type { Deps } from "../../../../src/cli/kit/deps.ts";
import { answered, fakeClient, type Answers } from "../../../helpers/fake-client.ts";
import { fakeDeps, type FakeOptions } from "../../../helpers/fake-deps.ts";
import { runCommand } from "../../../helpers/run-command.ts";

const ADA = ["--email", "ada@example.com"];
const PERSON = { id: "7", name: "Ada", email: "ada@example.com", phone_number: null, created_at: 0 };

const autopilot = (deps: Deps, ...words: readonly string[]) => runCommand(deps, ["autopilot", ...words]);

function world(answers: Answers, options: FakeOptions = {}) {
  const { client, calls } = fakeClient(answers);
  return { calls, ...fakeDeps({ client, ...options }) };
}

describe("autopilot list", () => {
  it("shows members flat, in the contract's columns", async () => {
    const member = {
      created_at: 0,
      updated_at: 60,
      person: { ...PERSON, last_sent_at: null },
      next_survey_request: { id: "9", created_at: 0, survey_scheduled_at: 120, properties: { plan: "pro" } },
    };
    const { deps, calls, out } = world(
      { pages: [[member, { ...member, next_survey_request: null }]] },
      { options: { output: "csv" } },
    );
    expect(await autopilot(deps, "list", "--platform", "sms", ...ADA)).toBe(0);
    expect(calls).toEqual([
      { call: "listMembers", parameters: ["sms", { person_email: "ada@example.com", per_page: 50 }] },
    ]);
    expect(out()).toBe(
      "person_id,person_name,person_email,person_phone_number,created_at,updated_at,next_survey_request_id,survey_scheduled_at,properties\n" +
        '7,Ada,ada@example.com,,1970-01-01T00:00:00Z,1970-01-01T00:01:00Z,9,1970-01-01T00:02:00Z,"{""plan"":""pro""}"\n' +
        "7,Ada,ada@example.com,,1970-01-01T00:00:00Z,1970-01-01T00:01:00Z,,,\n",
    );
  });
});

describe("autopilot add", () => {
  it("sends what was given and shows the answer", async () => {
    const { deps, calls, out } = world({ write: answered({ person: PERSON, properties: { plan: "pro" } }) });
    const words = [...ADA, "--person-id", "7", "--name", "Ada", "--property", "plan=pro"];
    expect(await autopilot(deps, "add", ...words)).toBe(0);
    expect(calls).toEqual([
      {
        call: "addMember",
        parameters: [
          "email",
          { person_id: "7", person_email: "ada@example.com", person_name: "Ada", properties: { plan: "pro" } },
        ],
      },
    ]);
    expect(out()).toBe(
      'person_id\t7\nperson_name\tAda\nperson_email\tada@example.com\nperson_phone_number\t\nperson_created_at\t1970-01-01T00:00:00Z\nproperties\t{"plan":"pro"}\n',
    );
  });

  it("prints the request under --dry-run", async () => {
    const { deps, out } = world({}, { options: { dryRun: true } });
    await autopilot(deps, "add", "--platform", "sms", "--phone", "+14155550101");
    expect(out()).toBe(
      '{"method":"POST","url":"https://survey.example.com/v1/autopilot/sms/memberships.json","body":{"person_phone_number":"+14155550101"}}\n',
    );
  });

  it("needs somebody", async () => {
    const { deps } = fakeDeps();
    await expect(autopilot(deps, "add", "--platform", "sms")).rejects.toMatchObject({
      name: "UsageError",
      message: "specify --person-id, --email or --phone; a new person requires --phone for surveys by sms",
    });
  });
});

describe("autopilot remove", () => {
  const REMOVED =
    "person_id\t7\nperson_name\tAda\nperson_email\tada@example.com\nperson_phone_number\t\nperson_created_at\t1970-01-01T00:00:00Z\n";
  const LOOK = { call: "listMembers", parameters: ["email", { person_email: "ada@example.com", per_page: 1 }] };

  it.each(["y", "Y", "yes", " YES "])("asks on a terminal and takes %j for yes", async (answer) => {
    const { deps, calls, asked, out } = world(
      { pages: [[{ person: PERSON }]], write: answered({ person: PERSON }) },
      { width: 80, answers: [answer], options: { output: "tsv" } },
    );
    expect(await autopilot(deps, "remove", ...ADA)).toBe(0);
    expect({ asked, calls, out: out() }).toEqual({
      asked: ["Remove ada@example.com from Autopilot (email) at https://survey.example.com? [y/N] "],
      calls: [LOOK, { call: "removeMember", parameters: ["email", { person_email: "ada@example.com" }] }],
      out: REMOVED,
    });
  });

  it.each(["", "n", "yesterday"])("takes %j for no and sends nothing", async (answer) => {
    const { deps, calls } = world({ pages: [[{ person: PERSON }]] }, { width: 80, answers: [answer] });
    await expect(autopilot(deps, "remove", ...ADA)).rejects.toMatchObject({
      name: "UsageError",
      message: "Cancelled. Nothing was sent.",
    });
    expect(calls).toEqual([LOOK]);
  });

  it("needs --yes off a terminal", async () => {
    const piped = world({ pages: [[{ person: PERSON }]] });
    await expect(autopilot(piped.deps, "remove", ...ADA)).rejects.toMatchObject({
      name: "UsageError",
      message: "autopilot remove requires confirmation, and there is no terminal to ask on; pass --yes",
    });
    const { deps, out } = world({ write: answered({ person: PERSON }) });
    expect(await autopilot(deps, "remove", ...ADA, "--yes")).toBe(0);
    expect(out()).toBe(REMOVED);
  });

  it("asks nobody under --dry-run", async () => {
    const { deps, out } = world({}, { options: { dryRun: true } });
    expect(await autopilot(deps, "remove", ...ADA)).toBe(0);
    expect(out()).toBe(
      '{"method":"DELETE","url":"https://survey.example.com/v1/autopilot/email/memberships.json","body":{"person_email":"ada@example.com"}}\n',
    );
  });

  it.each([[[]], [[...ADA, "--person-id", "7"]], [[...ADA, "--person-id", "7", "--phone", "+14155550101"]]])(
    "refuses %j",
    async (person) => {
      await expect(autopilot(fakeDeps().deps, "remove", ...person, "--yes")).rejects.toMatchObject({
        name: "UsageError",
        message: "specify exactly one of --person-id, --email or --phone",
      });
    },
  );
});

describe("autopilot config", () => {
  const settings = { active: true, frequency: 7_776_000, created_at: 0, updated_at: 60 };
  const json = (platform: string): string => JSON.stringify({ platform_id: platform, ...settings });

  it("of one platform is a record", async () => {
    const { deps, calls, out } = world({ autopilot: settings }, { width: 80 });
    expect(await autopilot(deps, "config", "--platform", "sms")).toBe(0);
    expect(calls).toEqual([{ call: "getAutopilot", parameters: "sms" }]);
    expect(out()).toBe(
      "platform_id  sms\nactive       true\nfrequency    90 days\ncreated_at   1970-01-01 00:00:00\nupdated_at   1970-01-01 00:01:00\n",
    );
  });

  it.each([
    ["json", `[\n${json("email")},\n${json("sms")}\n]\n`],
    ["ndjson", `${json("email")}\n${json("sms")}\n`],
    [
      "csv",
      "platform_id,active,frequency,created_at,updated_at\n" +
        "email,true,7776000,1970-01-01T00:00:00Z,1970-01-01T00:01:00Z\nsms,true,7776000,1970-01-01T00:00:00Z,1970-01-01T00:01:00Z\n",
    ],
    [
      "tsv",
      ["email", "sms"]
        .map(
          (name) =>
            `platform_id\t${name}\nactive\ttrue\nfrequency\t7776000\ncreated_at\t1970-01-01T00:00:00Z\nupdated_at\t1970-01-01T00:01:00Z\n`,
        )
        .join(""),
    ],
  ] as const)("of both as %s", async (output, expected) => {
    const { deps, out } = world({ autopilot: settings }, { options: { output } });
    expect(await autopilot(deps, "config")).toBe(0);
    expect(out()).toBe(expected);
  });

  it("of one as json is the object", async () => {
    const { deps, out } = world({ autopilot: settings }, { options: { output: "json" } });
    await autopilot(deps, "config", "--platform", "email");
    expect(out()).toBe(`${json("email")}\n`);
  });
});
