/** Random calls must get byte-identical responses from SQLite and PostgreSQL. */
import { array, assert, asyncProperty, constant, constantFrom, nat, oneof, record, tuple } from "fast-check";
import type { Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import { RESPONSE_ORDERS } from "../../../../src/contract/routes.ts";
import { size } from "../../../helpers/long.ts";
import { hasPostgres } from "../../../helpers/postgres.ts";
import { seededRandom } from "../../../helpers/seeded-random.ts";
import { claimAll, START } from "../../domain/fixture.ts";
import { type HttpFixture, openHttp } from "../../http/fixture.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";

const CALLS = 200;
const RUNS = { numRuns: size(1, 40), endOnFailure: !process.env["SHRINK"] };

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly later: number;
  readonly delivers: boolean;
}

const [id, email, phone] = [
  nat(60).map(String),
  constantFrom("a@x.co", "B@x.co", "é@x.co", "d@bücher.example", "nobody", ""),
  constantFrom("+14155550000", "+14155550001", "12"),
];
const value = constantFrom<unknown>("pro", "", 1e-7, 2 ** 53, -0, true, null, "\u0000", { a: [1] }, 'ü\u2028"\\');
const properties = record({ plan: value, city: value }, { requiredKeys: [] });
const time = nat(400).map((seconds) => START + seconds);
const query = (given: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<string> =>
  record(given, { requiredKeys: [] }).map((found) =>
    new URLSearchParams(Object.entries(found).map(([name, one]): [string, string] => [name, String(one)])).toString(),
  );
const pages = { per_page: constantFrom(1, 2, 3, 100, 0), page: constantFrom(1, 2, 3) };
const range = { since: time, until: time };
const body = (given: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<object> =>
  record(given, { requiredKeys: [] });

const person = body({
  email,
  phone_number: phone,
  channel: constantFrom("email", "sms", "pigeon"),
  name: constantFrom("Ada", 'Zoë "Z"', ""),
  delay: constantFrom(0, 60, -1),
  properties,
  send: constantFrom(true, false),
  last_sent_at: time,
  email_update: email,
});
const response = { score: nat(11), comment: constantFrom("fine", "", "a\nb\u0001"), person_properties: properties };
const listed = query({
  ...pages,
  ...range,
  updated_since: time,
  order: constantFrom(...RESPONSE_ORDERS),
  person_id: id,
});

const request: Arbitrary<readonly [method: string, path: string, body?: object]> = oneof(
  { arbitrary: tuple(constant("POST"), constant("/v1/people.json"), person), weight: 6 },
  {
    arbitrary: tuple(
      constant("POST"),
      constant("/v1/survey_responses.json"),
      body({ person: id, ...response, created_at: time }),
    ),
    weight: 6,
  },
  {
    arbitrary: tuple(
      constant("PUT"),
      id.map((one) => `/v1/survey_responses/${one}.json`),
      body({ ...response, person: id }),
    ),
    weight: 3,
  },
  { arbitrary: listed.map((found) => ["GET", `/v1/survey_responses.json?${found}`] as const), weight: 4 },
  {
    arbitrary: query({ per_page: pages.per_page, ...range, email }).map(
      (found) => ["GET", `/v1/people.json?${found}`] as const,
    ),
    weight: 3,
  },
  { arbitrary: query(range).map((found) => ["GET", `/v1/metrics.json?${found}`] as const), weight: 2 },
  { arbitrary: query({ ...pages, ...range }).map((found) => ["GET", `/v1/bounces.json?${found}`] as const), weight: 1 },
  {
    arbitrary: query({ ...pages, ...range }).map((found) => ["GET", `/v1/unsubscribes.json?${found}`] as const),
    weight: 1,
  },
  { arbitrary: tuple(constant("POST"), constant("/v1/unsubscribes.json"), body({ person_email: email })), weight: 1 },
  {
    arbitrary: tuple(
      constant("DELETE"),
      id.map((one) => `/v1/people/${one}`),
    ),
    weight: 1,
  },
  {
    arbitrary: tuple(
      constant("DELETE"),
      email.map((one) => `/v1/people/${encodeURIComponent(one)}/survey_requests/pending.json`),
    ),
    weight: 1,
  },
  {
    arbitrary: tuple(
      constantFrom("POST", "DELETE"),
      constant("/v1/autopilot/email/memberships.json"),
      body({ person_email: email, person_id: id, properties }),
    ),
    weight: 2,
  },
  {
    arbitrary: query({ per_page: pages.per_page, person_email: email }).map(
      (found) => ["GET", `/v1/autopilot/email/memberships.json?${found}`] as const,
    ),
    weight: 1,
  },
);

const call: Arbitrary<Call> = tuple(request, constantFrom(0, 0, 1, 60), nat(9)).map(
  ([[method, path, given], later, nth]) => ({
    method,
    path,
    ...(given === undefined ? {} : { body: given }),
    later,
    delivers: nth === 0,
  }),
);

function openOne(engine: "sqlite" | "postgresql"): Promise<HttpFixture> {
  const [next, fraction] = [{ token: 0 }, seededRandom(1)];
  const token = (bytes: number): string => `t${(next.token += 1)}`.padEnd(Math.ceil((bytes * 4) / 3), "_");
  return openHttp({ engine, random: { fraction, token } });
}

async function answer(http: HttpFixture, { method, path, body: given, later, delivers }: Call): Promise<unknown> {
  http.time.now += later;
  if (delivers) {
    for (const due of await http.write(claimAll)) await http.write((tx) => finishDelivery(tx, due, { kind: "sent" }));
  }
  const { status, headers, text } = await http.call(method, path, { body: given });
  return { method, path, status, link: headers["link"], text };
}

describe.skipIf(!hasPostgres)("two engines", () => {
  test(`when ${CALLS} calls are made by chance, then both answer each of them alike`, () =>
    assert(
      asyncProperty(array(call, { minLength: CALLS, maxLength: CALLS }), async (calls) => {
        const [file, server] = [await openOne("sqlite"), await openOne("postgresql")];
        try {
          const good = { count: 0 };
          for (const one of calls) {
            const [here, there] = [await answer(file, one), await answer(server, one)];
            expect(there).toEqual(here);
            if ((here as { status: number }).status < 300) good.count += 1;
          }
          expect(good.count).toBeGreaterThan(CALLS / 4);
          expect([await file.store.check(), await server.store.check()]).toEqual([[], []]);
        } finally {
          await file.store.close();
          await server.store.close();
        }
      }),
      RUNS,
    ));
});
