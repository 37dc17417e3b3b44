/** Runs every resource of the published npm client, unmodified, against a real service. */
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startServe, type Served } from "../helpers/serve.ts";

type Row = Record<string, unknown>;

interface Listing {
  autoPagingEach(onItem: (item: Row) => void, options?: Row): PromiseLike<void>;
}

interface Memberships {
  list(parameters?: Row): Listing;
  create(data: Row): PromiseLike<Row>;
  delete(parameters: Row): PromiseLike<Row>;
}

interface Delighted {
  readonly person: {
    create(data: Row): PromiseLike<Row>;
    list(parameters?: Row): Listing;
    delete(identifier: Row): PromiseLike<Row>;
    retrieve(id: string): PromiseLike<Row>;
  };
  readonly surveyResponse: {
    create(data: Row): PromiseLike<Row & { save(): PromiseLike<Row> }>;
    retrieve(id: string, parameters?: Row): PromiseLike<Row & { save(): PromiseLike<Row> }>;
    all(parameters?: Row): PromiseLike<Row[]>;
  };
  readonly surveyRequest: { deletePending(parameters: Row): PromiseLike<Row> };
  readonly bounce: { all(parameters?: Row): PromiseLike<Row[]> };
  readonly unsubscribe: { all(parameters?: Row): PromiseLike<Row[]>; create(data: Row): PromiseLike<Row> };
  readonly metrics: { retrieve(parameters?: Row): PromiseLike<Row> };
  readonly autopilotConfiguration: { retrieve(platform: string): PromiseLike<Row> };
  readonly autopilotMembership: { forEmail(): Memberships; forSms(): Memberships };
}

let service: Served;
let client: Delighted;

beforeAll(async () => {
  service = await startServe();
  client = connect(service.apiKey);
});

afterAll(async () => {
  await service.stop();
});

function connect(key: string): Delighted {
  // It prints a deprecation notice when loaded.
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const open = createRequire(import.meta.url)("delighted") as (key: string, options: Row) => Delighted;
  const { hostname, port } = new URL(service.baseUrl);
  return open(key, { host: hostname, port: Number(port), scheme: "http" });
}

const plain = (value: unknown): Row => JSON.parse(JSON.stringify(value)) as Row;
const id = expect.stringMatching(/^\d+$/) as unknown;
const time = expect.any(Number) as unknown;

async function collect(listing: Listing): Promise<Row[]> {
  const rows: Row[] = [];
  await listing.autoPagingEach((item) => void rows.push(plain(item)));
  return rows;
}

describe("people", () => {
  it("when one is created with a survey, then it is scheduled", async () => {
    const person = await client.person.create({
      email: "a+b@example.com",
      name: "Ada",
      delay: 3600,
      properties: { plan: "pro", "a b": "ü" },
    });
    expect(plain(person)).toEqual({
      id,
      email: "a+b@example.com",
      name: "Ada",
      survey_scheduled_at: time,
      properties: { plan: "pro", "a b": "ü" },
    });
  });

  it("when one is created without a survey, then none is", async () => {
    const person = await client.person.create({ email: "quiet@example.com", send: false });
    expect(plain(person)).toEqual({
      id,
      email: "quiet@example.com",
      name: null,
      survey_scheduled_at: null,
      properties: {},
    });
  });

  it("when the list has many pages, then the client walks them by their links, in creation order", async () => {
    const emails = Array.from({ length: 25 }, (_, index) => `page${index}@example.com`);
    for (const email of emails) await client.person.create({ email, send: false });
    const listed = await collect(client.person.list({ per_page: 10 }));
    expect(listed.map((person) => person.email).filter((email) => String(email).startsWith("page"))).toEqual(emails);
  });

  it("when one is asked for by an address with a plus, then only that one comes", async () => {
    expect(await collect(client.person.list({ email: "a+b@example.com" }))).toEqual([
      {
        id,
        email: "a+b@example.com",
        name: "Ada",
        created_at: time,
        phone_number: null,
        last_sent_at: null,
        last_responded_at: null,
        next_survey_scheduled_at: time,
      },
    ]);
  });

  it.each(["id", "email", "phone_number"])("when one is deleted by %s, then it is gone", async (kind) => {
    const person = plain(
      await client.person.create({ email: "gone@example.com", phone_number: "+14155550199", send: false }),
    );
    const identifier = { id: person.id, email: "gone@example.com", phone_number: "+14155550199" }[kind];
    expect(plain(await client.person.delete({ [kind]: identifier }))).toEqual({ ok: true });
    expect(await collect(client.person.list({ email: "gone@example.com" }))).toEqual([]);
  });

  it("when a value is wrong, then the client raises its own error with our words", async () => {
    await expect(Promise.resolve(client.person.create({ email: "not an address" }))).rejects.toMatchObject({
      type: "ResourceValidationError",
      message: JSON.stringify({ status: 422, message: "Unprocessable Entity", errors: { email: ["is invalid"] } }),
    });
  });
});

describe("scheduled surveys", () => {
  it("when they are dropped, then the person has none", async () => {
    await client.person.create({ email: "pending+1@example.com", delay: 3600 });
    expect(plain(await client.surveyRequest.deletePending({ person_email: "pending+1@example.com" }))).toEqual({
      ok: true,
    });
    const [person] = await collect(client.person.list({ email: "pending+1@example.com" }));
    expect(person?.next_survey_scheduled_at).toBeNull();
  });
});

describe("survey responses", () => {
  const whole = {
    id,
    person: id,
    survey_type: "nps",
    score: 10,
    comment: "Great",
    permalink: expect.stringMatching(/^http.*\/r\/[\w-]+$/) as unknown,
    created_at: time,
    updated_at: time,
    person_properties: { plan: "pro" },
    notes: [],
    tags: [],
    additional_answers: [],
  };

  it("when one is created, read, changed and listed, then it is the same one throughout", async () => {
    const person = plain(await client.person.create({ email: "answers@example.com", send: false }));
    const created = await client.surveyResponse.create({
      person: person.id,
      score: 10,
      comment: "Great",
      person_properties: { plan: "pro" },
    });
    expect(plain(created)).toEqual({ ...whole, person: person.id });
    const response = await client.surveyResponse.retrieve(String(created.id), { expand: ["person"] });
    expect(plain(response)).toMatchObject({ id: created.id, person: { id: person.id, email: "answers@example.com" } });
    // `save` sends every field back, without the id in the path.
    response.score = 3;
    expect(plain(await response.save())).toMatchObject({ id: created.id, score: 3, comment: "Great" });
    const listed = await client.surveyResponse.all({
      person_email: "answers@example.com",
      order: "desc",
      expand: ["person", "notes"],
    });
    expect(listed.map(plain)).toMatchObject([{ id: created.id, score: 3, person: { id: person.id } }]);
  });

  it("when a response answers further questions, then the client reads them in the API's form", async () => {
    const person = plain(await client.person.create({ email: "further@example.com", send: false }));
    const answers = { q_improve: "Faster" };
    const created = plain(await client.surveyResponse.create({ person: person.id, score: 3, answers }));
    const [listed] = await client.surveyResponse.all({ person_email: "further@example.com" });
    expect([created, listed === undefined ? null : plain(listed)].map((one) => one?.["additional_answers"])).toEqual(
      Array.from({ length: 2 }, () => [
        {
          id: expect.any(String),
          value: { free_response: "Faster", scale: null, select_one: null, select_many: null },
          question: { id: "q_improve", type: "free_response", text: "q_improve" },
        },
      ]),
    );
    await client.person.delete({ email: "further@example.com" });
  });

  it("when times are given as dates, then the client's seconds are understood", async () => {
    expect(await client.surveyResponse.all({ since: new Date(4_000_000_000_000) })).toEqual([]);
  });
});

describe("unsubscribes and bounces", () => {
  it("when somebody is unsubscribed, then they are listed", async () => {
    const person = plain(await client.person.create({ email: "leaver@example.com", name: "Lea", send: false }));
    expect(plain(await client.unsubscribe.create({ person_email: "leaver@example.com" }))).toEqual({ ok: true });
    const listed = await client.unsubscribe.all({ per_page: 5, page: 1 });
    expect(listed.map(plain)).toEqual([
      { person_id: person.id, email: "leaver@example.com", name: "Lea", unsubscribed_at: time },
    ]);
  });

  it("when nobody has bounced, then the list is empty", async () => {
    expect(await client.bounce.all()).toEqual([]);
  });
});

describe("metrics", () => {
  it("when they are asked for, then every core field is a whole number", async () => {
    const metrics = plain(await client.metrics.retrieve({ since: 0 }));
    expect(metrics).toEqual({
      nps: -100,
      promoter_count: 0,
      promoter_percent: 0,
      passive_count: 0,
      passive_percent: 0,
      detractor_count: 1,
      detractor_percent: 100,
      response_count: 1,
    });
  });
});

describe("autopilot", () => {
  it.each(["email", "sms"])("when the configuration of %s is read, then it has its five fields", async (platform) => {
    expect(plain(await client.autopilotConfiguration.retrieve(platform))).toEqual({
      platform_id: platform,
      active: true,
      frequency: 90 * 86_400,
      created_at: time,
      updated_at: time,
    });
  });

  it.each([
    ["email", { person_email: "pilot+1@example.com" }],
    ["sms", { person_phone_number: "+14155550142" }],
  ])(
    "when somebody is added to %s, listed and removed, then each answer holds the person",
    async (platform, identifier) => {
      const memberships =
        platform === "email" ? client.autopilotMembership.forEmail() : client.autopilotMembership.forSms();
      const added = plain(
        await memberships.create({ ...identifier, person_name: "Amelia", properties: { plan: "pro" } }),
      );
      expect(added).toMatchObject({ person: { id, name: "Amelia" }, properties: { plan: "pro" } });
      const listed = await collect(memberships.list({ per_page: 1 }));
      expect(listed).toMatchObject([
        { person: { name: "Amelia" }, next_survey_request: { id, properties: { plan: "pro" } } },
      ]);
      expect(plain(await memberships.delete(identifier))).toEqual({ person: added.person });
      expect(await collect(memberships.list(identifier))).toEqual([]);
    },
  );
});

describe("what the service refuses", () => {
  it("when the key is not one of ours, then the client says so", async () => {
    await expect(Promise.resolve(connect("stranger").metrics.retrieve())).rejects.toMatchObject({
      type: "AuthenticationError",
    });
  });

  it("when it asks for a path that the service does not offer, then it gets an error that it understands", async () => {
    await expect(Promise.resolve(client.person.retrieve("1"))).rejects.toMatchObject({ type: "GeneralAPIError" });
  });
});
