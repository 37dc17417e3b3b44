import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emailKey, emailProblem, isEmail } from "../../src/contract/text/email.ts";
import { isE164 } from "../../src/contract/text/phone.ts";

describe("phone numbers", () => {
  it("when there is a plus and 7 to 15 digits that do not begin with 0, then it is E.164", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9]\d{6,14}$/), (digits) => {
        expect(isE164(`+${digits}`)).toBe(true);
      }),
    );
  });

  it("when a character that is neither plus nor digit is put anywhere, then it is not", () => {
    const spoiler = fc.constantFrom(" ", "-", "(", ")", ".", "x", "\n", "\u00A0", "٣", "０", "+");
    fc.assert(
      fc.property(fc.stringMatching(/^\+[1-9]\d{8,10}$/), spoiler, fc.nat(), (phone, character, place) => {
        const at = place % (phone.length + 1);
        expect(isE164(`${phone.slice(0, at)}${character}${phone.slice(at)}`)).toBe(false);
      }),
    );
  });

  it.each(["", "+", "4155550000", "+0155550000", "+123456", "+1234567890123456", "4.47E+11", "00441632960000"])(
    "when it is %j, then it is not",
    (text) => {
      expect(isE164(text)).toBe(false);
    },
  );
});

describe("e-mail addresses", () => {
  it("when it is an address as people have them, then it has the form", () => {
    fc.assert(
      fc.property(fc.emailAddress({ size: "small" }), (email) => {
        expect(isEmail(email)).toBe(true);
      }),
    );
  });

  it.each(["a@x.co", "a+b@x.co", "o'neil@x.co", "é@bücher.example", "a@localhost", "x_y-z.1@sub.example.co.uk"])(
    "when it is %j, then it has the form",
    (email) => {
      expect(isEmail(email)).toBe(true);
    },
  );

  it.each([
    "",
    "a",
    "@x.co",
    "a@",
    "a@@x.co",
    "a b@x.co",
    "a@x..co",
    "a@.co",
    "a@x.co.",
    "a@x.co,b@x.co",
    "<a@x.co>",
    "a@x.co\n",
    "a@x.co\u0000",
    `${"a".repeat(250)}@x.co`,
  ])("when it is %j, then it has not", (email) => {
    expect(isEmail(email)).toBe(false);
  });

  it("when it is of plain characters, then the rules of RFC 5321 and of host names decide", () => {
    const label = fc.oneof(
      fc.stringMatching(/^[a0x-]{0,3}$/),
      fc.integer({ min: 61, max: 65 }).map((length) => "a".repeat(length)),
    );
    const labels = fc.array(label, { minLength: 1, maxLength: 5 }).map((all) => all.join("."));
    fc.assert(
      fc.property(labels, labels, (local, domain) => {
        const isLocal = local.length <= 64 && local.split(".").every((part) => part !== "");
        const isHost = domain.split(".").every((part) => part.length <= 63 && /^[a-z0-9](?:.*[a-z0-9])?$/.test(part));
        const isNumber = /(?:^|\.)(?:0+|0x[a0]*)$/.test(domain);
        const fits = local.length + 1 + domain.length <= 254;
        expect(isEmail(`${local}@${domain}`)).toBe(isLocal && isHost && !isNumber && fits);
      }),
      { numRuns: 2_000 },
    );
  });

  it("when white space or a control is put anywhere into an address, then it has not", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(" ", "\t", "\n", "\r", "\u0000", "\u0085", "\u00A0", "\u2028"),
        fc.nat({ max: 6 }),
        (character, at) => {
          expect(isEmail(`${"ab@x.co".slice(0, at)}${character}${"ab@x.co".slice(at)}`)).toBe(false);
        },
      ),
    );
  });

  it.each([
    ["", "is empty"],
    ["a b@x.co", "contains a space"],
    ["a\u034F@x.co", "contains an invisible character, U+034F (combining grapheme joiner), at position 2"],
    ["a\u200B@x.co", "contains an invisible character, U+200B (zero width space), at position 2"],
    ["\u202Ea@x.co", "contains an invisible character, U+202E (right-to-left override), at position 1"],
    ["a@x.co\uFEFF", "contains an invisible character, U+FEFF (zero width no-break space), at position 7"],
    ["a\u0007@x.co", "contains the invisible character U+0007"],
    ["a\uD800@x.co", "contains the invisible character U+D800"],
    ["a\u00A0@x.co", "contains the invisible character U+00A0"],
    ["a;b@x.co", "contains ;"],
    ["nobody", "has no @"],
    ["a@b@x.co", "has more than one @"],
    ["@x.co", "has nothing before the @"],
    ["a@", "has nothing after the @"],
    ["a..b@x.co", "has a misplaced dot before the @"],
    [".a@x.co", "has a misplaced dot before the @"],
    ["a.@x.co", "has a misplaced dot before the @"],
    [`${"a".repeat(65)}@x.co`, "has more than 64 bytes before the @"],
    [`${"é".repeat(33)}@x.co`, "has more than 64 bytes before the @"],
    [`a@${"x.".repeat(130)}co`, "is longer than 254 characters"],
    ["a@-x.co", "has a domain that is not a host name"],
    ["a@x-.co", "has a domain that is not a host name"],
    ["a@ex/am?ple#x", "has a domain that is not a host name"],
    ["a@x_y.co", "has a domain that is not a host name"],
    ["a@127.0.0.1", "has a domain that is not a host name"],
    ["a@0x7f.1", "has a domain that is not a host name"],
    [`a@${"x".repeat(64)}.co`, "has a domain that is not a host name"],
  ])("when it is %j, then it %s", (email, problem) => {
    expect(emailProblem(email)).toBe(problem);
  });

  it.each([
    "|cmd@y.co",
    "-x@y.co",
    "a@münchen.example",
    `${"a".repeat(64)}@x.co`,
    "a@1x.2y",
    "a@xn--bcher-kva.example",
  ])("when it is %j, then nothing is wrong with it", (email) => {
    expect(emailProblem(email)).toBeNull();
  });

  it.each([
    ["Ada@X.Co", "ada@x.co", true],
    ["é@x.co", "e\u0301@x.co", true],
    ["a@Bücher.example", "a@xn--bcher-kva.example", true],
    ["a@bu\u0308cher.example", "a@bücher.EXAMPLE", true],
    ["\u212A@x.co", "k@x.co", false],
    ["\u0130@x.co", "i\u0307@x.co", false],
    ["É@x.co", "é@x.co", false],
    ["É@X.co", "É@x.CO", true],
    ["a@x.co", "b@x.co", false],
  ])("when %s and %s are compared, then it is %s that they are one", (left, right, isSame) => {
    expect(emailKey(left) === emailKey(right)).toBe(isSame);
  });

  it("when two spellings differ in case only, then they name the same person", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        expect(emailKey(email.toUpperCase())).toBe(emailKey(email.toLowerCase()));
      }),
    );
  });
});
