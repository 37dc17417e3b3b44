/** E-mail addresses and phone numbers: what names a person. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emailKey, isEmail } from "../../src/contract/email.ts";
import { isE164 } from "../../src/contract/phone.ts";

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

  it("when two spellings differ in case only, then they name the same person", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        expect(emailKey(email.toUpperCase())).toBe(emailKey(email.toLowerCase()));
      }),
    );
  });
});
