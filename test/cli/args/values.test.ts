import { describe, expect, it } from "vitest";
import { readInterval } from "../../../src/contract/text/duration.ts";
import {
  parseChoice,
  parseChoices,
  parseDuration,
  parseInteger,
  parseKeyValue,
  parseNames,
  parseRate,
  parseRateLimit,
  parseScore,
} from "../../../src/cli/args/values.ts";
import { parseEmail, parsePerson, parsePhone } from "../../../src/cli/args/people.ts";
import { suggest } from "../../../src/cli/args/suggest.ts";
import { UsageError } from "../../../src/cli/errors/usage-error.ts";

function told(work: () => unknown): [string, string | null] | string {
  try {
    return `no error but ${JSON.stringify(work())}`;
  } catch (error) {
    return error instanceof UsageError ? [error.message, error.hint] : `not a usage error: ${String(error)}`;
  }
}

const range = (text: string): number => parseInteger(text, "--per-page", { min: 1, max: 100 });
const upwards = (text: string): number => parseInteger(text, "--limit", { min: 1 });
const FORMATS = ["table", "json", "csv"] as const;

describe("values that are taken", () => {
  it.each<[string, () => unknown, unknown]>([
    ["seconds", () => parseDuration("90", "--delay"), 90],
    ["seconds with a unit", () => parseDuration("90s", "--delay"), 90],
    ["minutes", () => parseDuration("15m", "--delay"), 900],
    ["hours", () => parseDuration("2h", "--delay"), 7200],
    ["days", () => parseDuration("1d", "--delay"), 86_400],
    ["weeks", () => parseDuration("2w", "--delay"), 1_209_600],
    ["no time at all", () => parseDuration("0", "--delay"), 0],
    ["an interval in seconds", () => readInterval("2592000"), 2_592_000],
    ["an interval that is meant in days", () => readInterval("90"), null],
    ["no interval", () => readInterval("0"), 0],
    ["a rate", () => parseRate("10", "--rate"), 10],
    ["a rate a second", () => parseRate("2.5/s", "--rate"), 2.5],
    ["a rate a minute", () => parseRate("600/m", "--rate"), 10],
    ["a rate an hour", () => parseRate("1800/h", "--rate"), 0.5],
    ["a limit", () => parseRateLimit("600/m", "--rate-limit"), { requests: 600, periodSeconds: 60 }],
    ["a whole number", () => range("100"), 100],
    ["a score", () => [parseScore("0", "--score"), parseScore("10", "--score")], [0, 10]],
    ["an address", () => parseEmail(" ann@example.com ", "--email"), "ann@example.com"],
    ["a phone", () => parsePhone("+14155550101", "--phone"), "+14155550101"],
    ["a person by address", () => parsePerson("ann@example.com", "person"), { email: "ann@example.com" }],
    ["a person by phone", () => parsePerson("+14155550101", "person"), { phone_number: "+14155550101" }],
    ["a property", () => parseKeyValue("plan=a=b", "--property"), ["plan", "a=b"]],
    ["an empty property", () => parseKeyValue("plan=", "--property"), ["plan", ""]],
    ["names", () => parseNames(["id, email", "name"], "--columns"), ["id", "email", "name"]],
    ["one of a list", () => parseChoice("json", "--output", FORMATS), "json"],
    ["several of a list, once each", () => parseChoices(["json,csv", "json"], "--output", FORMATS), ["json", "csv"]],
  ])("%s", (_, work, expected) => {
    expect(work()).toEqual(expected);
  });
});

describe("values that are refused", () => {
  const duration = "a duration such as 90 (seconds), 90s, 15m, 2h, 1d or 2w";
  const e164 = "E.164: a leading +, the country code, then the number, as in +14155550000";
  it.each<[string, () => unknown, string, string | null]>([
    ["a unit that is none", () => parseDuration("3y", "--delay"), `--delay: "3y" is not ${duration}`, null],
    ["half a minute", () => parseDuration("0.5m", "--delay"), `--delay: "0.5m" is not ${duration}`, null],
    ["time before", () => parseDuration("-1", "--delay"), `--delay: "-1" is not ${duration}`, null],
    ["no rate", () => parseRate("0", "--rate"), '--rate: "0" is not a rate such as 10 (a second), 10/s or 600/m', null],
    [
      "no limit",
      () => parseRateLimit("fast", "--rate-limit"),
      '--rate-limit: "fast" is not a limit such as 10/s or 600/m',
      null,
    ],
    ["beyond a range", () => range("101"), '--per-page: "101" is not a whole number from 1 to 100', null],
    ["a fraction", () => upwards("1.5"), '--limit: must be a whole number, 1 or more (got "1.5")', null],
    ["hexadecimal", () => upwards("0x10"), '--limit: must be a whole number, 1 or more (got "0x10")', null],
    [
      "more than is exact",
      () => upwards("9007199254740993"),
      '--limit: must be a whole number, 1 or more (got "9007199254740993")',
      null,
    ],
    ["a score of eleven", () => parseScore("11", "--score"), '--score: "11" is not a whole number from 0 to 10', null],
    ["no address", () => parseEmail("ann", "--email"), '--email: "ann" is not an e-mail address: it has no @', null],
    [
      "a phone with blanks",
      () => parsePhone("+1 (415) 555-0101", "--phone"),
      '--phone: "+1 (415) 555-0101" is not E.164: only + and digits; write +14155550101',
      null,
    ],
    [
      "a phone without +",
      () => parsePhone("14155550101", "--phone"),
      '--phone: "14155550101" is not E.164: the leading + is missing (spreadsheets drop it); did you mean +14155550101?',
      null,
    ],
    [
      "a phone without its country",
      () => parsePhone("415 555 0101", "--phone"),
      `--phone: "415 555 0101" is not ${e164}`,
      null,
    ],
    [
      "a phone as it is dialled at home",
      () => parsePhone("030 12345678", "--phone"),
      '--phone: "030 12345678" is not E.164: a national number; put + and the country code in front, without the leading 0',
      null,
    ],
    [
      "an address with an invisible character",
      () => parseEmail("ann\u200b@example.com", "--email"),
      '--email: "annU+200B@example.com" is not an e-mail address: it contains an invisible character, U+200B (zero width space), at position 4',
      null,
    ],
    [
      "a phone with an invisible character",
      () => parsePhone("\u202a+14155550101", "--phone"),
      '--phone: "U+202A+14155550101" is not E.164: it contains an invisible character, U+202A (left-to-right embedding), at position 1',
      null,
    ],
    ["a phone of letters", () => parsePhone("CALL-ME", "--phone"), `--phone: "CALL-ME" is not ${e164}`, null],
    ["a property without =", () => parseKeyValue("plan", "--property"), '--property: "plan" is not key=value', null],
    [
      "a property without a key",
      () => parseKeyValue("=pro", "--property"),
      '--property: "=pro" is not key=value',
      null,
    ],
    [
      "an empty name",
      () => parseNames(["id,,email"], "--columns"),
      '--columns: "id,,email" holds an empty name; write name,name',
      null,
    ],
    [
      "a near miss",
      () => parseChoice("jsno", "--output", FORMATS),
      '--output: "jsno" is not one of table, json, csv',
      "did you mean json?",
    ],
    [
      "something else",
      () => parseChoice("xml", "--output", FORMATS),
      '--output: "xml" is not one of table, json, csv',
      null,
    ],
  ])("%s", (_, work, message, hint) => {
    expect(told(work)).toEqual([message, hint]);
  });

  it("when neither an address nor a number, then both forms are named", () => {
    expect(told(() => parsePerson("ann", "person"))).toEqual([
      'person: "ann" is not an e-mail address such as ann@example.com or a phone number such as +14155550000',
      null,
    ]);
  });
});

describe("suggestions", () => {
  const words = ["people", "responses", "metrics", "autopilot", "ls"];
  it.each([
    ["poeple", "people"],
    ["peopel", "people"],
    ["response", "responses"],
    ["METRICS", "metrics"],
    ["lss", "ls"],
    ["l", null],
    ["kubernetes", null],
    ["", null],
  ])("when %j is typed, then %j is meant", (typed, meant) => {
    expect(suggest(typed, words)).toBe(meant);
  });

  it("when there is nothing to choose from, then nothing is meant", () => {
    expect(suggest("people", [])).toBe(null);
  });

  it("a word of a million letters is not compared letter by letter", () => {
    const names = Array.from({ length: 30 }, (_, index) => `survey property ${index}`);
    expect(suggest("a".repeat(1_000_000), names)).toBe(null);
  });
});
