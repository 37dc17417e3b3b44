import { describe, expect, it } from "vitest";
import { parseCustomers, readDemoCsv, sampleAnswers } from "../../../../src/cli/commands/demo/answers.ts";
import { isEmail } from "../../../../src/contract/text/email.ts";
import { isE164 } from "../../../../src/contract/text/phone.ts";
import type { Random } from "../../../../src/runtime/random.ts";

function evenly(step: number): Random {
  let last = 0;
  return { fraction: () => (last = (last + step) % 1), token: () => "token" };
}

describe("the demo's customers", () => {
  it("when the file is read, then each can be reached and is there once", async () => {
    const customers = parseCustomers(await readDemoCsv());
    const reachable = customers.filter(({ email, phoneNumber }) => isEmail(email) || isE164(phoneNumber));
    const identities = new Set(customers.map(({ email, phoneNumber }) => email || phoneNumber));
    expect([customers.length, reachable.length, identities.size]).toEqual([300, 300, 300]);
  });

  it("when one is looked at, then the rest of the row are properties", async () => {
    const [first] = parseCustomers(await readDemoCsv());
    expect(first).toEqual({
      email: "lilliana.wisozk0@example.net",
      phoneNumber: "+14155550000",
      name: "Nikita Crist",
      properties: { locale: "en", plan: "free", region: "EMEA", store: "Online" },
    });
  });
});

describe("their answers", () => {
  it("when chance is even, then about a third answers, mostly well, some with words", () => {
    const answers = sampleAnswers(300, evenly(0.618_033_988_75)).filter((answer) => answer !== null);
    const happy = answers.filter(({ score }) => score >= 9).length;
    expect(answers.length).toBeGreaterThan(60);
    expect(answers.length).toBeLessThan(180);
    expect(happy / answers.length).toBeGreaterThan(0.3);
    expect(answers.every(({ score }) => Number.isInteger(score) && score >= 0 && score <= 10)).toBe(true);
    expect(answers.some(({ comment }) => comment === null) && answers.some(({ comment }) => comment !== null)).toBe(
      true,
    );
  });

  it("when chance is the same, then so are they", () => {
    expect(sampleAnswers(50, evenly(0.37))).toEqual(sampleAnswers(50, evenly(0.37)));
  });

  it.each([0, 0.999_999_999])("when chance is always %d, then every score is one of the scale", (fraction) => {
    const answers = sampleAnswers(3, { fraction: () => fraction, token: () => "" });
    expect(answers.map((answer) => answer?.score ?? null)).toEqual(fraction === 0 ? [0, 0, 0] : [null, null, null]);
  });
});
