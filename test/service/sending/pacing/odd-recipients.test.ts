import { describe, expect, it } from "vitest";
import { hasStopped, type ServerAnswer } from "../../../../src/service/sending/pacing/sender-health.ts";
import { answer, BUSY, LOGIN, MINUTE, NOW, SENT, UNKNOWN_USER, untilOf, world } from "./answers.ts";

const refused = (name: string): ServerAnswer =>
  answer({ outcome: "held", sender: "breaker", text: `550 5.7.1 not you ${name}`, message: name });

const quota = (domain: string, more = {}): ServerAnswer =>
  answer({ outcome: "retry", sender: "hours", text: "452 daily limit", domain, needsOthers: true, ...more });

const stoppedBy = (names: readonly string[]) => {
  const made = world();
  for (const name of names) made.send(refused(name));
  expect(made.self.state.mode).toBe("stopped");
  return made;
};

describe("a stopped sender whose recipients are odd", () => {
  it("a probe that bounces clears nothing, and the good message after it leaves at the same time", () => {
    const { self, send, verdict } = stoppedBy(["1", "2", "3"]);
    self.now += 15 * MINUTE;
    expect([send({ ...UNKNOWN_USER, message: "4" }), self.state.mode]).toEqual([true, "probing"]);
    expect([send({ ...SENT, message: "5" }), self.state.mode]).toEqual([true, "open"]);
    expect([refused("1"), refused("2"), refused("3")].map((one) => verdict(one))).toEqual(["odd", "odd", "odd"]);
    expect(self.state.mode).toBe("open");
  });

  it("what an operator releases does not stop it again, and new refusals do", () => {
    const { self, resume, verdict } = stoppedBy(["1", "2", "3"]);
    for (let time = 0; time < 4; time += 1) {
      resume();
      expect([refused("1"), refused("2"), refused("3")].map((one) => verdict(one))).toEqual(["odd", "odd", "odd"]);
      expect(self.state.mode).toBe("open");
    }
    for (const name of ["4", "5", "6"]) verdict(refused(name));
    expect(self.state.mode).toBe("stopped");
  });

  it("a message behind 19 that are refused leaves at the first probe", () => {
    const { self, ask, verdict, send } = stoppedBy(["1", "2", "3"]);
    self.now += 15 * MINUTE;
    for (let at = 10; at < 29; at += 1) {
      expect(ask().kind).toBe("go");
      expect(verdict(refused(String(at)))).toBe("later");
    }
    expect([send({ ...SENT, message: "30" }), self.state.mode]).toEqual([true, "open"]);
  });

  it("a probe that is refused before its recipient is named, or whose outcome is unknown, is the only one", () => {
    for (const certain of [LOGIN, answer({ outcome: "unknown", sender: "breaker", text: "?", message: "4" })]) {
      const { self, ask, verdict } = stoppedBy(["1", "2", "3"]);
      self.now += 15 * MINUTE;
      ask();
      expect(verdict(certain)).toBe("as-said");
      expect([self.state.mode, untilOf(self.state)]).toEqual(["stopped", self.now + 15 * MINUTE]);
    }
  });

  it("a back-off in between does not keep it from being healed", () => {
    const { self, send } = stoppedBy(["1", "2", "3"]);
    self.now += 15 * MINUTE;
    send(BUSY);
    expect([self.state.mode, hasStopped(self.state)]).toEqual(["waiting", true]);
  });
});

describe("a quota by its words alone", () => {
  it("one domain's stops nobody, however often it comes", () => {
    const { self, verdict } = world();
    for (const domain of ["a.org", "a.org", "b.org", "a.org", "b.org"]) expect(verdict(quota(domain))).toBe("odd");
    expect(self.state.mode).toBe("open");
  });

  it("three domains' are the sender's, unless something went out in between", () => {
    const { self, hear, verdict } = world();
    for (const domain of ["a.org", "b.org"]) verdict(quota(domain));
    hear(SENT);
    for (const domain of ["c.org", "d.org"]) verdict(quota(domain));
    expect(self.state.mode).toBe("open");
    expect(verdict(quota("e.org"))).toBe("as-said");
    expect(self.state).toMatchObject({ mode: "waiting", until: NOW + 4 * 60 * MINUTE });
  });
});
