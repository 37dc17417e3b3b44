import { describe, expect, it, test } from "vitest";
import type { NewWebhook, Transaction } from "../../../../src/service/domain/ports.ts";
import { answerSurvey } from "../../../../src/service/domain/answers/answers.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { addResponse, updateResponse } from "../../../../src/service/domain/answers/responses.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { eventBody } from "../../../../src/service/domain/webhooks/events.ts";
import { slackMessage } from "../../../../src/service/domain/webhooks/slack-message.ts";
import { WEBHOOK_EVENTS } from "../../../../src/service/domain/webhooks/webhook.ts";
import { addWebhook, pruneEvents, removeWebhook } from "../../../../src/service/domain/webhooks/webhooks.ts";
import { claimAll, DAY, type Fixture, links, openFixture, responseInput, sendInput, START } from "../fixture.ts";

const hook: NewWebhook = {
  url: "https://example.com/hook",
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  signatureHeader: "X-Webhook-Signature",
  allowPrivate: false,
  insecureHttp: false,
  events: WEBHOOK_EVENTS,
  scores: null,
  format: "json",
};

async function openWithHook(given: Partial<NewWebhook> = {}) {
  const fixture = await openFixture();
  const { id } = await fixture.write((tx) => addWebhook(tx, fixture.project, { ...hook, ...given }, []));
  const { person } = await fixture.write((tx) =>
    sendPerson(tx, fixture.project, sendInput({ email: "ada@example.com", name: "Ada", send: false })),
  );
  const write = <Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> => fixture.write(work);
  const read = <Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> => fixture.read(work);
  return { store: fixture.store, project: fixture.project, time: fixture.time, write, read, id, person };
}

async function bodies({ read, project }: Pick<Fixture, "read" | "project">, id: number): Promise<unknown[]> {
  const due = await read((tx) => tx.webhooks.due({ project, id, format: "json" }, 100));
  return due.map(({ body }) => JSON.parse(body) as unknown);
}

const types = async (fixture: Pick<Fixture, "read" | "project">, id: number): Promise<unknown[]> =>
  (await bodies(fixture, id)).map((body) => (body as { event_type: string }).event_type);

test("when a response is given and changed, then each change is an event, and what changes nothing is none", async () => {
  const { id, person, ...fixture } = await openWithHook();
  const { write, project, time } = fixture;
  const response = await write((tx) => addResponse(tx, project, responseInput({ personId: person.id }), links));
  time.now += 60;
  const put = (change: object): Promise<unknown> =>
    write((tx) => updateResponse(tx, project, response.id, change, new Set(["notes"]), links));
  await put({ comment: "Better now" });
  await put({ comment: "Better now" });
  await put({ note: "Called back" });
  const all = (await bodies(fixture, id)) as {
    event_type: string;
    event_data: { comment: string; notes: unknown[] };
  }[];
  expect(all.map(({ event_type, event_data: { comment, notes } }) => [event_type, comment, notes.length])).toEqual([
    ["survey_response.created", null, 0],
    ["survey_response.updated", "Better now", 0],
    ["survey_response.updated", "Better now", 1],
  ]);
});

test("when a survey is answered on its page, then the score is an event, and so is the comment that follows", async () => {
  const { id, ...fixture } = await openWithHook();
  const { write, project } = fixture;
  await write((tx) => sendPerson(tx, project, sendInput({ email: "bea@example.com" })));
  const [due] = await write(claimAll);
  await write((tx) => finishDelivery(tx, due!, { kind: "sent" }));
  const give = (comment?: string): Promise<unknown> =>
    write((tx) =>
      answerSurvey(tx, due!.token, { score: 3, by: "button", ...(comment === undefined ? {} : { comment }) }, DAY),
    );
  await give();
  await give("Too slow");
  await give("Too slow");
  const all = (await bodies(fixture, id)) as { event_type: string; event_data: { comment: string; score: number } }[];
  expect(all.map(({ event_type, event_data: { score, comment } }) => [event_type, score, comment])).toEqual([
    ["survey_response.created", 3, null],
    ["survey_response.updated", 3, "Too slow"],
  ]);
});

test("when somebody unsubscribes, then that is an event once, and a bounce is none", async () => {
  const { id, person, ...fixture } = await openWithHook();
  const { write, project } = fixture;
  await write((tx) => recordBounce(tx, project, Number(person.id)));
  await write((tx) => unsubscribe(tx, project, "ada@example.com"));
  await write((tx) => unsubscribe(tx, project, "ada@example.com"));
  const data = { person_id: person.id, email: "ada@example.com", name: "Ada", unsubscribed_at: START };
  expect(await bodies(fixture, id)).toEqual([
    { event_type: "unsubscribe.created", event_id: expect.stringMatching(/^[0-9a-f]{64}$/), event_data: data },
  ]);
});

test("when the transaction fails, then there is no event either", async () => {
  const { id, person, ...fixture } = await openWithHook();
  const work = async (tx: Transaction): Promise<void> => {
    await addResponse(tx, fixture.project, responseInput({ personId: person.id }), links);
    throw new Error("no");
  };
  await expect(fixture.write(work)).rejects.toThrow("no");
  expect(await bodies(fixture, id)).toEqual([]);
});

test("when a webhook wants other events, or belongs to another project, then it gets none", async () => {
  const { person, ...fixture } = await openWithHook();
  const { write, project } = fixture;
  const other = await write((tx) => addProject(tx, "other"));
  const foreign = await write((tx) => addWebhook(tx, other, hook, []));
  const quiet = await write((tx) => addWebhook(tx, project, { ...hook, events: ["unsubscribe.created"] }, []));
  await write((tx) => addResponse(tx, project, responseInput({ personId: person.id }), links));
  expect(await types({ ...fixture, project: other }, foreign.id)).toEqual([]);
  expect(await types(fixture, quiet.id)).toEqual([]);
});

test("when a webhook is removed, then what waits is dropped, and what is 30 days old goes", async () => {
  const { id, person, ...fixture } = await openWithHook();
  const { write, read, project, time, store } = fixture;
  const add = (): Promise<unknown> =>
    write((tx) => addResponse(tx, project, responseInput({ personId: person.id }), links));
  await add();
  time.now += 30 * DAY;
  await add();
  const rest = (): Promise<unknown> => read((tx) => tx.webhooks.counts(project.id, id));
  await pruneEvents(store);
  expect(await rest()).toEqual({ waiting: 2, delivered: 0, failed: 0 });
  time.now += 1;
  await pruneEvents(store);
  expect(await rest()).toEqual({ waiting: 1, delivered: 0, failed: 0 });
  expect(await write((tx) => removeWebhook(tx, project, String(id)))).toBe(1);
  await pruneEvents(store);
  expect(await rest()).toEqual({ waiting: 0, delivered: 0, failed: 0 });
  expect(await store.check()).toEqual([]);
});

describe("what a webhook is made of", () => {
  it.each<[string, Partial<NewWebhook>, string]>([
    ["a URL that is refused", { url: "https://10.0.0.1/" }, "url is not allowed: 10.0.0.1, a private address"],
    [
      "a URL that is too long",
      { url: `https://example.com/${"x".repeat(2000)}` },
      "url is too long (maximum is 2000 characters)",
    ],
    ["a secret with a space", { secret: "a b" }, "secret must be 1 to 255 visible ASCII characters"],
    [
      "a standard secret that no library can decode",
      { secret: "whsec_not-base64" },
      "secret must be base64 after whsec_",
    ],
    ["a standard secret without a key", { secret: "whsec_" }, "secret must be base64 after whsec_"],
    ["a header with a colon", { signatureHeader: "A:" }, "signature_header is not a header name that can be used"],
    ["a header of ours", { signatureHeader: "Webhook-Id" }, "signature_header is not a header name that can be used"],
    ["no events", { events: [] }, "events can't be blank"],
  ])("when it has %s, then it is refused", async (_, given, message) => {
    await expect(openWithHook(given)).rejects.toThrow(message);
  });
});

function dataOf(body: string): Record<string, unknown> {
  return (JSON.parse(body) as { event_data: Record<string, unknown> }).event_data;
}

function sizeOf(body: string): number {
  return Buffer.byteLength(JSON.stringify(dataOf(body)));
}

function section(text: string): object {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

describe("a large event", () => {
  it.each([
    ["letters", "a".repeat(65_536)],
    ["emoji", "😀".repeat(16_000)],
    ["quotes", `"\\\n`.repeat(20_000)],
  ])("when its comment is long, of %s, then it is cut and marked, and fills the room", (_, comment) => {
    const body = eventBody("survey_response.created", "e", { id: "1", comment });
    const data = dataOf(body);
    expect({ ...data, comment: "" }).toEqual({ id: "1", comment: "", comment_truncated: true });
    expect(comment.startsWith(String(data.comment))).toBe(true);
    expect(sizeOf(body)).toBeLessThanOrEqual(20_000);
    expect(sizeOf(body)).toBeGreaterThan(19_980);
  });

  it("when its properties are large too, then they are left out and marked", () => {
    const data = { id: "1", comment: "a".repeat(30_000), person_properties: { a: "b".repeat(30_000) }, tags: ["x"] };
    expect(dataOf(eventBody("survey_response.created", "e", data))).toEqual({
      id: "1",
      comment: "",
      comment_truncated: true,
      person_properties: {},
      person_properties_truncated: true,
      tags: ["x"],
    });
  });

  it("when it fits, then it is as it is", () => {
    const data = { id: "1", comment: "a".repeat(19_000) };
    expect(dataOf(eventBody("survey_response.created", "e", data))).toEqual(data);
  });
});

interface SlackText {
  readonly type: string;
  readonly text: string;
  readonly verbatim?: boolean;
}

function textsIn(value: unknown): SlackText[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(textsIn);
  return "text" in value && typeof value.text === "string" ? [value as SlackText, ...inner] : inner;
}

const plain = (text: string) => ({ type: "section", text: { type: "plain_text", text, emoji: false } });

describe("a message for Slack", () => {
  const person = { id: "1", email: "ada@example.com", name: "Ada <ada>" };
  const response = {
    id: "2",
    person,
    survey_type: "nps",
    score: 3,
    comment: "Slow & <late>\n*really*",
    permalink: "https://surveys.example/r/abc?expires=1&signature=x",
    created_at: START,
    updated_at: START,
    person_properties: {},
    notes: [],
    tags: [],
    additional_answers: [],
  } as const;

  it("when somebody answers, then it says who, how, and what they wrote", () => {
    expect(JSON.parse(slackMessage("survey_response.created", response as never))).toEqual({
      text: "New answer: 3 out of 10 (detractor) from Ada &lt;ada&gt;",
      mrkdwn: false,
      parse: "none",
      blocks: [
        section("*New answer: 3 out of 10 (detractor)*"),
        plain("Ada <ada>"),
        {
          type: "rich_text",
          elements: [{ type: "rich_text_quote", elements: [{ type: "text", text: response.comment }] }],
        },
        {
          type: "context",
          elements: [
            {
              type: "mrkdwn",
              text: "<https://surveys.example/r/abc?expires=1&amp;signature=x|Open the response>",
              verbatim: true,
            },
          ],
        },
      ],
    });
  });

  it("when the comment is long, then no block has more than 3,000 characters", () => {
    const comment = "<&>\n".repeat(16_000);
    const { blocks } = JSON.parse(slackMessage("survey_response.updated", { ...response, comment } as never)) as {
      blocks: object[];
    };
    const longest = Math.max(...textsIn(blocks).map(({ text }) => text.length));
    expect([longest > 1000, longest <= 3000]).toEqual([true, true]);
  });

  it.each(["<!channel> @here", "*bold* _x_ ~y~ `z`", "http://evil.example <http://x|y>", "&lt;!here&gt;", "> a\n```b"])(
    "when a comment, a name or an address is %j, then Slack has it as plain text alone",
    (text) => {
      const stranger = { ...person, name: text };
      const messages = [
        slackMessage("survey_response.created", { ...response, person: stranger, comment: text } as never),
        slackMessage("unsubscribe.created", { person_id: "1", email: text, name: null, unsubscribed_at: START }),
      ].map((body) => JSON.parse(body) as { text: string; mrkdwn: boolean; blocks: object[] });
      for (const { blocks, ...shown } of messages) {
        expect([shown.mrkdwn, /[<>]/.test(shown.text)]).toEqual([false, false]);
        const formatted = textsIn(blocks).filter(({ type }) => type === "mrkdwn");
        expect(formatted.filter((one) => one.verbatim !== true || one.text.includes(text))).toEqual([]);
        expect(textsIn(blocks).some((one) => one.type !== "mrkdwn" && one.text === text)).toBe(true);
      }
    },
  );

  it("when somebody unsubscribes, then it says who", () => {
    const data = { person_id: "1", email: "ada@example.com", name: null, unsubscribed_at: START };
    expect(JSON.parse(slackMessage("unsubscribe.created", data))).toEqual({
      text: "ada@example.com unsubscribed",
      mrkdwn: false,
      parse: "none",
      blocks: [section("*Unsubscribed from surveys*"), plain("ada@example.com")],
    });
  });

  it("when an endpoint takes both forms, then each gets its own", async () => {
    const { id, person: ada, ...fixture } = await openWithHook();
    const { write, read, project } = fixture;
    const slack = await write((tx) => addWebhook(tx, project, { ...hook, format: "slack" }, []));
    await write((tx) => addResponse(tx, project, responseInput({ personId: ada.id }), links));
    const [event] = await read((tx) => tx.webhooks.due(slack, 10));
    expect(JSON.parse(event!.body)).toMatchObject({ text: "New answer: 9 out of 10 (promoter) from Ada" });
    expect(await types(fixture, id)).toEqual(["survey_response.created"]);
  });
});
