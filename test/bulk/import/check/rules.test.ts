import { expect, it } from "vitest";
import { type FieldRule, RULES } from "../../../../src/bulk/import/check/rules.ts";

const readers = {
  time: (text: string) => ({ "2026-01-31": 1_769_817_600, "2062-01-31": 2_905_804_800 })[text] ?? null,
  latestTime: 1_769_904_000,
  delay: (text: string) => (text === "2h" ? 7200 : null),
};

it.each<[FieldRule, string, unknown]>([
  ["email", "ann@example.com", "ann@example.com"],
  ["phone", "+14155550000", "+14155550000"],
  ["channel", "SMS", "sms"],
  ["delay", "2h", 7200],
  ["send", "Yes", true],
  ["send", "0", false],
  ["time", "2026-01-31", 1_769_817_600],
  ["score", "10", 10],
  ["score", "9.0", 9],
  ["id", "12.0", "12"],
  ["id", "1.20", "1.20"],
  ["nps", "NPS", "nps"],
])("when %s is %j, then it is taken as %j", (rule, text, value) => {
  expect(RULES[rule](text, readers)).toEqual({ value });
});

it.each<[FieldRule, string, RegExp]>([
  ["email", "nobody", /^"nobody" is not an e-mail address: it has no @$/],
  ["email", "a b@example.com", /it contains a space/],
  ["email", "a@bad..example.com", /it has a domain that is not a host name/],
  [
    "email",
    "ann\u200b@example.com",
    /"annU\+200B@example\.com" is not an e-mail address: it contains an invisible character, U\+200B \(zero width space\), at position 4/,
  ],
  ["email", "ann@exam\u00adple.com", /U\+00AD \(soft hyphen\)/],
  ["email", "ann\u3164@example.com", /U\+3164/],
  ["phone", "+1415\u202c5550000", /U\+202C \(pop directional formatting\)/],
  ["phone", "4155550101", /is not E\.164: a leading \+/],
  ["phone", "4.47E+11", /digits are lost/],
  ["phone", "14155550000", /the leading \+ is missing.*did you mean \+14155550000\?/],
  ["phone", "0014155550000", /write \+14155550000 for the leading 00/],
  ["phone", "+1 (415) 555-0000", /only \+ and digits; write \+14155550000/],
  ["phone", "0301234567", /a national number/],
  ["phone", "555-1234", /is not E\.164: a leading \+/],
  ["phone", "+44 (0)20 7946 0958", /write \+442079460958 without the \(0\), which is dialled within the country only$/],
  ["phone", "+14155550100.0", /write \+14155550100 without the decimals that a spreadsheet added$/],
  ["phone", "14155550100.00", /did you mean \+14155550100\?$/],
  ["phone", "+1 415 555 0100 x12", /write \+14155550100 without the extension$/],
  ["phone", "+1 415 555 0100 ext. 12", /write \+14155550100 without the extension$/],
  ["phone", "011 49 151 5550103", /write \+491515550103 for the leading 011$/],
  ["phone", "011 2345 6789", /a national number/],
  ["phone", "+1.415.555.0000", /only \+ and digits; write \+14155550000$/],
  ["phone", "+14155550100.5", /is not E\.164: a leading \+/],
  ["phone", "+44(0)2079460958(0)", /is not E\.164: a leading \+/],
  ["phone", "+1-415-555-0100 / 101", /is not E\.164: a leading \+/],
  ["phone", "+49 30/1234567", /write \+49301234567$/],
  ["phone", "+49 0151 5550103", /a 0 follows the country code; leave it out[^+]*$/],
  ["id", "1.2E+15", /is an id rounded by a spreadsheet; its digits are lost/],
  ["time", "1,7E+9", /digits are lost/],
  ["time", "soon", /is not a time/],
  ["time", "45322", /is a spreadsheet's day number; format the column as a date/],
  ["time", "45322,5", /is a spreadsheet's day number/],
  ["time", "2062-01-31", /is more than a day ahead/],
  ["delay", "soon", /is not a delay/],
  ["channel", "fax", /is not a channel/],
  ["send", "maybe", /is neither true/],
  ["nps", "csat", /"csat" is not nps; its score would count in the NPS/],
  ["score", "11", /a whole number from 0 to 10/],
  ["score", "9.5", /a whole number from 0 to 10/],
])("when %s is %j, then it says what to do", (rule, text, problem) => {
  expect(RULES[rule](text, readers)).toEqual({ problem: expect.stringMatching(problem) as string });
});
