import { describe, expect, it, test } from "vitest";
import type { JsonObject } from "../../src/contract/json.ts";
import { createMasker } from "../../src/insight/redact.ts";
import { growthOf, LINEAR_MAX } from "../helpers/growth.ts";
import { isLong } from "../helpers/long.ts";

function masked(comment: string): unknown {
  return createMasker().row({ id: "1", comment })["comment"];
}

describe("what is planted in a comment is masked", () => {
  it.each([
    ["mail ada@example.com please", "mail [email-1] please"],
    ["<Ada.L+x@mail.example.co.uk>, or bob@example.com.", "<[email-1]>, or [email-2]."],
    ["Ada@Example.com and ada@example.com", "[email-1] and [email-1]"],
    ["schreib an jürgen@müller.de!", "schreib an [email-1]!"],
    ["call +49 (0)30 901820-0 today", "call [phone-1] today"],
    ["+14155550101", "[phone-1]"],
    ["+14155550101 9/10", "[phone-1] 9/10"],
    ["Tel.: 030 1234567", "Tel.: [phone-1]"],
    ["0151-23456789 abends", "[phone-1] abends"],
    ["(089) 123 45 67", "[phone-1]"],
    ["am 2026-01-31 030 1234567 angerufen", "am 2026-01-31 [phone-1] angerufen"],
    ["au 06.12.34.56.78 merci", "au [phone-1] merci"],
    ["0049 30 901820", "[phone-1]"],
    ["(415) 555-0132 or 415-555-0132", "[phone-1] or [phone-1]"],
    ["415.555.0132, 1-800-555-0199", "[phone-1], [phone-2]"],
    ["4155550132", "[phone-1]"],
    ["me (415-555-2671)", "me ([phone-1])"],
    ["(4155552671) (4155552671)", "([phone-1]) ([phone-1])"],
    ["(1-800-555-0199), ((089) 123 45 67)", "([phone-1]), ([phone-2])"],
    ["(Tel. 030 1234567) (030 1234567)", "(Tel. [phone-1]) ([phone-1])"],
    ["030 1234567 (10 times)", "[phone-1] (10 times)"],
    ["(or 030 1234567) 20 times", "(or [phone-1]) 20 times"],
    ["+49 (030) 1234567 (10 Uhr)", "[phone-1] (10 Uhr)"],
    ["(+1 415 555 2671) 7", "([phone-1]) 7"],
    ["call me at 5551234567", "call me at [phone-1]"],
    ["my number is 1234567", "my number is [phone-1]"],
    ["phone 555-0132", "phone [phone-1]"],
    ["612 345 678", "[phone-1]"],
    ["IBAN DE89 3704 0044 0532 0130 00 is mine", "IBAN [iban-1] is mine"],
    ["GB82WEST12345698765432.", "[iban-1]."],
    ["nl91abna0417164300", "[iban-1]"],
    ["card 4111 1111 1111 1111 12/27", "card [card-1] 12/27"],
    ["5500-0000-0000-0004", "[card-1]"],
    ["378282246310005", "[card-1]"],
    // A phone number whose check digit happens to be valid for a card.
    ["call +49 151 12345678", "call [phone-1]"],
    ["see https://app.example.com/reset?token=abc123.", "see [url-1]."],
    ["https://app.example.com/s/a8Fj3kd9Lq2ZxY7Tb4Wn/edit", "[url-1]"],
    ["https://ada:secret@example.com/x", "[url-1]"],
    ["https://example.com/u?email=ada@example.com", "[url-1]"],
    ["ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ or ann@example.com", "[email-1] or [email-1]"],
    ["ann%40example.com, bob%40example%2Ecom", "[email-1], [email-2]"],
    ["a\u200bnn@exam\u00adple.com!", "[email-1]!"],
    ["ann [at] example [dot] com, ann(at)example.com, bob {AT} example(dot)com", "[email-1], [email-1], [email-2]"],
    ["call ＋４９ ３０ ９０１８２０ or +49 30 901820", "call [phone-1] or [phone-1]"],
    ["اتصل على ٠٣٠ ١٢٣٤٥٦٧ أو 030 1234567", "اتصل على [phone-1] أو [phone-1]"],
    ["फ़ोन ०३० १२३४५६७", "फ़ोन [phone-1]"],
    ["+1 415\u200b555 01\u206032", "[phone-1]"],
    ["card ④①①① 1111 1111 1111", "card [card-1]"],
    ["my number: 123-45-6789, mine too: 123‑45‑6789.", "my number: [ssn-1], mine too: [ssn-1]."],
    ["from 192.168.100.200, 203.0.113.7.", "from [ip-1], [ip-2]."],
    ["[2001:db8::7]:443 and fe80::1c2:3, 2001:0db8:0:0:0:0:0:7", "[[ip-1]]:443 and [ip-2], [ip-3]"],
    ["::ffff:203.0.113.7; IP:2001:db8::7: it", "[ip-1]; IP:[ip-2]: it"],
    ["https://example.com/u/ann%40example.com", "[url-1]"],
    ["https://example.com/j/3f2504e0-4f89-41d3-9a0c-0305e82c3301", "[url-1]"],
  ])("%s", (comment, expected) => {
    expect(masked(comment)).toBe(expected);
  });
});

describe("what only looks like it stays", () => {
  it.each([
    "order 12345678 never came",
    "Order #0301234567",
    "order no. 4155550132",
    "order (4155550132)",
    "(2026-01-31 10:30:45)",
    "(12 345) 67",
    "order 2024-118-3321",
    "Bestellung 0301234567",
    "INV-2026-00123456",
    "invoice number: 2026-000123-45",
    "ticket 4711-2233-99",
    "case id 612 345 678",
    "tracking 00340434161094042557",
    "1Z999AA10123456784",
    "10023455 is still missing",
    "version 10.15.7 and 2.14.3-rc.1",
    "Chrome/120.0.6099.109 and version 10.15.7.2",
    "see 12:30:45 and std::vector, a::b, ::1",
    "meet (at) noon [at] the usual place (dot)",
    "section 4.2.1.3.7 of 300.1.2.3",
    "on 2026-01-31, 31.01.2026 and 01/31/2026",
    "2026-01-31T10:30:00Z",
    "2026-01-31 10:30:45",
    "from 2024-2026",
    "1700000000",
    "a score of 10 10 10 10 and 9/10",
    "0-6 are detractors",
    "costs 1 000 000 or 1,234,567.89 €",
    "0.12345678",
    "€12345678",
    "4111 1111 1111 1112",
    "DE89370400440532013001",
    "see https://docs.example.com/how-to-import-people-2026#csv",
    "https://example.com/blog/twenty-five-very-long-words",
    "@example and me@localhost",
    "id 4155550132",
    "3 × 4 = 12",
  ])("%s", (comment) => {
    expect(masked(comment)).toBe(comment);
  });
});

const rowOf = (comment: string, name: string): JsonObject => ({
  id: "1",
  person: { id: "7", email: "ada@example.com", name },
  comment,
  person_properties: { street: "12 Rose Lane" },
});

describe("the person's own words", () => {
  it.each([
    ["Ada Lovelace here, thanks. Ada", "Ada Lovelace", "[name-1] here, thanks. [name-1]"],
    ["ADA's order; adapter, Canada", "Ada Lovelace", "[name-1]'s order; adapter, Canada"],
    ["Grüße, jose garcia", "José García", "Grüße, [name-1]"],
    ["José or José", "Jose Garcia", "[name-1] or [name-1]"],
    ["It will work, says Will Smith; will it?", "Will Smith", "It will work, says [name-1]; will it?"],
    ["von hier, J. van Dyk", "Jan van Dyk", "von hier, J. van [name-1]"],
    ["Ａｄａ here, A\u200bda too", "Ada Lovelace", "[name-1] here, [name-1] too"],
    ["山田太郎です", "山田太郎", "[name-1]です"],
    ["I live at 12 rose lane.", "Ada", "I live at [address-1]."],
    ["Bob helped", "Ada", "Bob helped"],
    ["x (y) [z] \\ . * +", "A.* (+) [B]", "x (y) [z] \\ . * +"],
  ])("in %j of %s", (comment, name, expected) => {
    expect(createMasker().row(rowOf(comment, name))["comment"]).toBe(expected);
  });
});

test("when a row is masked, then every field of it is", () => {
  const row: JsonObject = {
    id: "4155550132",
    person: { id: "2", email: "Ada@example.com", name: "Ada", phone_number: "+14155550101", created_at: 1_700_000_000 },
    survey_type: "nps",
    score: 3,
    comment: "Ada, ada@example.com",
    permalink: "https://app.example.com/r/1",
    created_at: 1_700_000_000,
    updated_at: null,
    person_properties: {
      plan: "pro",
      seats: 12,
      Phone: "call reception",
      contact: { "E-Mail": "x@y.example", "bob@example.com": 1 },
      card: 4_111_111_111_111_111,
      order_id: 612_345_678,
      since: 1_700_000_000,
      "boss@example.com": true,
    },
    notes: [{ id: "1", text: "rang +14155550101", user_email: "support@example.com", created_at: 5 }, "ask Ada"],
    tags: ["billing", { id: "9", name: "ada@example.com" }],
    additional_answers: [
      {
        id: "1",
        value: { free_response: "ask bob@example.com", scale: 1_234_567, select_one: null, select_many: null },
        question: { id: "q", type: "free_response", text: "Who?" },
      },
    ],
    later: "ada@example.com",
  };
  const masker = createMasker();
  expect([masker.row(row), [...masker.counts()]]).toEqual([
    {
      id: "4155550132",
      person: { id: "2", email: "[email-1]", name: "[name-1]", phone_number: "[phone-1]", created_at: 1_700_000_000 },
      survey_type: "nps",
      score: 3,
      comment: "[name-1], [email-1]",
      permalink: "[url-1]",
      created_at: 1_700_000_000,
      updated_at: null,
      person_properties: {
        plan: "pro",
        seats: 12,
        Phone: "[phone-2]",
        contact: { "E-Mail": "[email-2]", "[email-3]": 1 },
        card: "[card-1]",
        order_id: 612_345_678,
        since: 1_700_000_000,
        "[email-4]": true,
      },
      notes: [{ id: "1", text: "rang [phone-1]", user_email: "[email-5]", created_at: 5 }, "ask [name-1]"],
      tags: ["billing", { id: "9", name: "[email-1]" }],
      additional_answers: [
        {
          id: "1",
          value: { free_response: "ask [email-3]", scale: 1_234_567, select_one: null, select_many: null },
          question: { id: "q", type: "free_response", text: "Who?" },
        },
      ],
      later: "[email-1]",
    },
    [
      ["email", 9],
      ["phone", 3],
      ["url", 1],
      ["card", 1],
      ["name", 3],
    ],
  ]);
});

test("when a person has properties, then they are masked as those of a response are", () => {
  const properties = { mobile: 4_915_112_345_678, id: "erika@example.com", "ada@example.com": "friend", seats: 12 };
  const masker = createMasker();
  const row = { person: { id: "7", name: null, properties: { ...properties, vorname: "Erika" } }, comment: "so Erika" };
  expect([masker.row(row), [...masker.counts()]]).toEqual([
    {
      person: {
        id: "7",
        name: null,
        properties: { mobile: "[phone-1]", id: "[email-1]", "[email-2]": "friend", seats: 12, vorname: "[name-1]" },
      },
      comment: "so [name-1]",
    },
    [
      ["email", 2],
      ["phone", 1],
      ["name", 2],
    ],
  ]);
});

const times = (text: string) => (size: number) => text.repeat(Math.ceil(size / text.length));

describe.runIf(isLong)("when a text is long and hostile", () => {
  it.each<[string, (size: number) => string]>([
    ["letters", times("a")],
    ["digits", times("1 ")],
    ["words with full stops", times("a.")],
    ["links", times("https://")],
    ["a link of full stops", (size) => `https://a${times(".")(size)}x`],
    ["brackets", times("(0")],
    ["brackets around numbers", times("((((((1)2)3)4)5)6)7)")],
    ["addresses", times("a@b.example ")],
    ["numbers", times("+14155550101, ")],
    ["colons", times("::")],
    ["parts of addresses", times("1:2.3")],
    ["disguises", times("a [at] b [dot] ")],
    ["digits of another width", times("１")],
    ["the person's own name", times("Zoë ")],
  ])("then masking %s takes time in proportion to it", (_, make) => {
    expect(growthOf((size) => void createMasker().row(rowOf(make(size), "Zoë")))).toBeLessThan(LINEAR_MAX);
  });

  it("then so does masking the name of a property", () => {
    expect(growthOf(maskProperty)).toBeLessThan(LINEAR_MAX);
  });
});

function maskProperty(size: number): void {
  createMasker().row({ id: "1", person_properties: { [`${times("_telefon")(size)}!`]: "x" } });
}
