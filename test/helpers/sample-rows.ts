/** Rows with everything that has ever broken a table or a file. */
import type { RowPage } from "../../src/contract/row-page.ts";
import type { JsonObject } from "../../src/contract/json.ts";

export function asPage(rows: readonly JsonObject[]): RowPage {
  return { rows, text: JSON.stringify(rows) };
}

const person = (id: string, fields: JsonObject): JsonObject => ({
  id,
  email: `person${id}@example.com`,
  name: null,
  created_at: 1_767_225_600,
  phone_number: null,
  last_sent_at: null,
  last_responded_at: null,
  next_survey_scheduled_at: null,
  ...fields,
});

export const SAMPLE_PEOPLE: readonly JsonObject[] = [
  person("1", {
    name: "Ada Lovelace",
    phone_number: "+14155550101",
    last_sent_at: 1_768_435_200,
    last_responded_at: 1_768_442_400,
  }),
  person("2", { name: "山田 太郎", next_survey_scheduled_at: 1_769_950_800 }),
  person("3", { name: "שרה כהן" }),
  person("4", { name: "Zoe\u0308 👩‍👩‍👧 N\u0303andu\u0301" }),
  person("5", { name: "नमस्ते" }),
  person("6", { email: null, phone_number: "+4915112345678" }),
  person("7", { name: "\u001b[31mred\u001b[0m\u202e" }),
  person("8", {
    email: "somebody.with.a.very.long.address.indeed@department.example.org",
    name: "Hubert Blaine Wolfeschlegelsteinhausen",
  }),
];

const response = (id: string, score: number, fields: JsonObject): JsonObject => ({
  id,
  person: {
    id: `9${id}`,
    email: `person${id}@example.com`,
    name: "Ada Lovelace",
    created_at: 1_767_225_600,
    phone_number: null,
  },
  survey_type: "nps",
  score,
  comment: null,
  permalink: `https://survey.example.com/r/token${id}`,
  created_at: 1_768_435_200,
  updated_at: null,
  person_properties: null,
  notes: [],
  tags: [],
  additional_answers: [],
  ...fields,
});

export const SAMPLE_RESPONSES: readonly JsonObject[] = [
  response("1", 10, {
    comment: 'Great, really "great"',
    person_properties: { plan: "pro", "a.b": "x" },
    tags: ["happy", "vip"],
  }),
  response("2", 7, { comment: "It was fine.\n\nBut slow\ttoday \\ yesterday" }),
  response("3", 0, { comment: '=HYPERLINK("http://evil.example")', person: "93" }),
  response("4", 8, {
    comment: "とても良かったです。また利用したいと思います。".repeat(3),
    later_field: { deep: [1, 2] },
  }),
];

const NAMES = [
  ["9001", "ada@example.com", "Ada Lovelace"],
  ["9002", "taro@example.jp", "山田 太郎"],
  ["9003", "sara@example.co.il", "שרה כהן"],
  ["9004", "zoe@example.org", "Zoe\u0308 👩‍👩‍👧 N\u0303andu\u0301"],
  ["9005", "somebody.with.a.very.long.address.indeed@department.example.org", null],
] as const;

export const SAMPLE_BOUNCES: readonly JsonObject[] = NAMES.map(([person_id, email, name], index) => ({
  person_id,
  email,
  name,
  bounced_at: 1_768_435_200 + index * 86_400,
}));

export const SAMPLE_UNSUBSCRIBES: readonly JsonObject[] = NAMES.map(([person_id, email, name], index) => ({
  person_id,
  email,
  name,
  unsubscribed_at: 1_768_435_200 + index * 86_400,
}));

const member = (id: string, name: string | null, by: JsonObject, index: number): JsonObject => ({
  created_at: 1_768_435_200 + index,
  updated_at: 1_768_435_200 + index,
  person: { id, name, ...by, created_at: 1_767_225_600, last_sent_at: null },
  next_survey_request: {
    id: `8${id}`,
    created_at: 1_768_435_200,
    survey_scheduled_at: 1_776_211_200,
    properties: index === 0 ? { plan: "pro", store: "Berlin" } : {},
  },
});

export const SAMPLE_MEMBERS: readonly JsonObject[] = NAMES.map(([id, email, name], index) =>
  member(id, name, { email, phone_number: index === 0 ? "+14155550101" : null }, index),
);

export const SAMPLE_SMS_MEMBERS: readonly JsonObject[] = NAMES.map(([id, , name], index) =>
  member(id, name, { email: index === 1 ? "taro@example.jp" : null, phone_number: `+1415555010${index}` }, index),
);
