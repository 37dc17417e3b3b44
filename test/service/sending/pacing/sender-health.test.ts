import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  admit,
  HEALTHY_SENDER,
  needsAnswer,
  nextSenderHealth,
  restoreSenderHealth,
  type SenderHealth,
  type ServerAnswer,
} from "../../../../src/service/sending/pacing/sender-health.ts";
import { answer, BUSY, LOGIN, MINUTE, NO_CODE, NOW, SECOND, SENT, UNKNOWN_USER, untilOf, world } from "./answers.ts";

describe("backing off", () => {
  it("when each probe is refused, then the waits go from 30 s to 15 min, and one success opens it", () => {
    const { self, send } = world();
    const waits: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      expect(send(BUSY)).toBe(true);
      expect(self.state).toMatchObject({ mode: "waiting", trouble: { reason: "421 busy", since: NOW } });
      waits.push(((untilOf(self.state) ?? 0) - self.now) / SECOND);
      self.now = (untilOf(self.state) ?? 0) - 1;
      expect(send(SENT)).toBe(false);
      self.now += 1;
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    expect(send(SENT)).toBe(true);
    expect(self.state).toEqual({ ...HEALTHY_SENDER, epoch: self.state.epoch, recent: self.state.recent });
  });

  it("when the server says how long, then it is at least so long", () => {
    const { self, send } = world();
    send({ ...BUSY, afterSeconds: 600 });
    expect(untilOf(self.state)).toBe(NOW + 600 * SECOND);
  });

  it("when several connections fail at once, then it is one failure", () => {
    const { self, ask, hear } = world();
    const epochs = [ask(), ask(), ask(), ask()].map((each) => (each.kind === "go" ? each.epoch : -1));
    for (const epoch of epochs) hear(BUSY, epoch);
    expect(self.state).toMatchObject({ until: NOW + 30 * SECOND, trouble: { consecutive: 1 } });
    // Nor does a success from before the failure open it.
    hear(SENT, epochs[0]);
    expect(self.state.mode).toBe("waiting");
  });

  it("when it is half open, then one message goes, and the next after its answer", () => {
    const { self, ask, hear, send } = world();
    send(BUSY);
    self.now += 30 * SECOND;
    const probe = ask();
    expect(probe.kind).toBe("go");
    expect(ask()).toEqual({ kind: "wait", domainUntil: null });
    hear(SENT);
    expect([ask().kind, ask().kind]).toEqual(["go", "go"]);
  });

  it("when the probe is withdrawn, then another takes its place", () => {
    const { self, ask, send } = world();
    send(BUSY);
    self.now += 30 * SECOND;
    const probe = ask();
    const epoch = probe.kind === "go" ? probe.epoch : -1;
    self.state = nextSenderHealth(self.state, { kind: "released", epoch }, self.now).state;
    expect([self.state.mode, ask().kind]).toEqual(["probing", "go"]);
  });

  it("a probe that bounces proves nothing, and the next message is the next probe", () => {
    const { self, send } = world();
    send(BUSY);
    self.now += 30 * SECOND;
    expect([send(UNKNOWN_USER), self.state.mode]).toEqual([true, "probing"]);
    expect([send(SENT), self.state.mode]).toEqual([true, "open"]);
  });

  it("when a quota is used up, then it waits for hours", () => {
    const { self, send } = world();
    send(answer({ outcome: "retry", sender: "hours", text: "452 daily limit" }));
    expect(self.state).toMatchObject({ mode: "waiting", until: NOW + 4 * 60 * MINUTE });
  });

  it("when the process starts again during a probe, then another is sent", () => {
    const { self, ask, send } = world();
    send(BUSY);
    self.now += 30 * SECOND;
    ask();
    const again = world(restoreSenderHealth(JSON.parse(JSON.stringify(self.state)) as SenderHealth));
    again.self.now = self.now;
    expect(again.send(SENT)).toBe(true);
    expect(again.self.state.mode).toBe("open");
  });

  it("when one domain is slow, then it alone waits", () => {
    const { self, ask, hear, send } = world();
    const slow = answer({ outcome: "retry", backsDomainOff: true, domain: "gmail.com", text: "421 4.7.28" });
    send(slow, "gmail.com");
    expect(ask("gmail.com")).toEqual({ kind: "wait", domainUntil: NOW + 30 * SECOND });
    expect(ask("x.org").kind).toBe("go");
    hear(slow);
    self.now += 30 * SECOND;
    send(slow, "gmail.com");
    expect(self.state.domains).toEqual({ "gmail.com": { until: self.now + MINUTE, consecutive: 2 } });
    self.now += MINUTE;
    send({ ...SENT, domain: "gmail.com" }, "gmail.com");
    expect([self.state.mode, self.state.domains]).toEqual(["open", {}]);
  });
});

describe("the breaker", () => {
  it("when the login fails, then three attempts and those on their way are all that is lost", () => {
    const { self, ask, hear, send } = world();
    for (let at = 0; at < 50; at += 1) send(SENT);
    const onTheirWay = [ask(), ask(), ask(), ask()];
    let wasted = 0;
    while (send(LOGIN)) wasted += 1;
    for (const each of onTheirWay) hear(LOGIN, each.kind === "go" ? each.epoch : -1);
    expect(wasted).toBe(3);
    expect(self.state).toMatchObject({
      mode: "stopped",
      until: NOW + 15 * MINUTE,
      trouble: { reason: "535 wrong password", said: LOGIN.said },
    });
  });

  it("when the server heals, then one probe opens it, and until then there is one in 15 minutes", () => {
    const { self, send } = world();
    for (let at = 0; at < 3; at += 1) send(LOGIN);
    let probes = 0;
    const end = self.now + 60 * MINUTE;
    for (; self.now < end; self.now += MINUTE) while (send(LOGIN)) probes += 1;
    expect(probes).toBe(3);
    expect(send(SENT)).toBe(true);
    expect([self.state.mode, self.state.patience, self.state.recent]).toEqual(["open", 3, []]);
  });

  it("when an operator resumes, then it opens at once", () => {
    const { self, resume, send } = world();
    for (let at = 0; at < 3; at += 1) send(LOGIN);
    resume();
    expect([self.state.mode, send(SENT)]).toEqual(["open", true]);
  });

  it("when messages go out in between, then refusals are not in a row", () => {
    const { self, send } = world();
    for (let at = 0; at < 9; at += 1) send(at % 3 === 2 ? SENT : LOGIN);
    expect(self.state.mode).toBe("open");
  });

  it("when three messages in a row are refused for what is in them, then it opens and the third is kept", () => {
    const { self, hear } = world();
    const SPAM = answer({ outcome: "failed", strike: true, text: "554 spam" });
    expect([hear(SPAM), hear(SENT), hear(SPAM), hear(SPAM), self.state.mode, hear(SPAM), self.state.mode]).toEqual([
      false,
      false,
      false,
      false,
      "open",
      true,
      "stopped",
    ]);
  });

  it("when a probe is put off, then that is no proof of health", () => {
    const { self, send } = world();
    for (let at = 0; at < 3; at += 1) send(LOGIN);
    self.now += 15 * MINUTE;
    send(answer({ outcome: "retry", text: "450 greylisted" }));
    expect(self.state.mode).toBe("probing");
    send(SENT);
    expect(self.state.mode).toBe("open");
  });
});

const tell = (texts: readonly ServerAnswer[]) => {
  const { self, hear } = world();
  const held = texts.map((each) => hear(each, self.state.epoch));
  return { state: self.state, held, hear, self };
};
const repeated = (count: number, one: ServerAnswer): ServerAnswer[] => Array.from({ length: count }, () => one);

describe("one answer for many", () => {
  it("when a fifth hears the same words without an address code, then nothing happens yet", () => {
    const { state } = tell([...repeated(40, SENT), ...repeated(10, NO_CODE)]);
    expect([state.mode, state.recent.length]).toEqual(["open", 50]);
  });

  it("when more than a fifth does, then the breaker opens and that one is held", () => {
    const numbered = Array.from({ length: 11 }, (_, at) => ({ ...NO_CODE, text: `no such user <p${at}@x.org>` }));
    const { state, held, hear } = tell([...repeated(39, SENT), ...numbered]);
    expect([state.mode, needsAnswer(state), held.indexOf(true)]).toEqual(["stopped", false, 48]);
    // Answers to messages already in flight are held too.
    expect(hear(NO_CODE, 0)).toBe(true);
  });

  it("when fewer than 20 were tried, then it is too early to tell", () => {
    expect(tell(repeated(19, NO_CODE)).state.mode).toBe("open");
    expect(tell(repeated(20, NO_CODE)).state.mode).toBe("stopped");
  });

  it("probes that hear the same words go out later, and 20 of them are enough until the next time", () => {
    const { self } = tell(repeated(20, NO_CODE));
    const { ask, verdict } = world(self.state);
    const again = world({ ...self.state });
    again.self.now += 15 * MINUTE;
    const verdicts: string[] = [];
    while (again.ask().kind === "go") verdicts.push(again.verdict({ ...NO_CODE, message: `1/${verdicts.length}` }));
    expect(verdicts).toEqual(Array.from({ length: 20 }, () => "later"));
    expect([again.self.state.mode, untilOf(again.self.state)]).toEqual(["stopped", again.self.now + 15 * MINUTE]);
    expect([ask().kind, verdict(NO_CODE, 0)]).toEqual(["wait", "held"]);
  });

  it("when more than three in ten are unknown by their code, then it asks, and no probe answers", () => {
    expect(tell([...repeated(35, SENT), ...repeated(15, UNKNOWN_USER)]).state.mode).toBe("open");
    const { state, held, hear, self } = tell([...repeated(34, SENT), ...repeated(16, UNKNOWN_USER)]);
    expect([state.mode, needsAnswer(state), untilOf(state), held.indexOf(true)]).toEqual(["stopped", true, null, 48]);
    expect(hear(UNKNOWN_USER, 0)).toBe(true);
    expect(admit(self.state, "x.org", NOW + 365 * 24 * 60 * MINUTE).admission.kind).toBe("wait");
    self.state = nextSenderHealth(self.state, { kind: "resume" }, NOW).state;
    expect(self.state).toEqual({ ...HEALTHY_SENDER, epoch: self.state.epoch });
    expect(hear(UNKNOWN_USER, self.state.epoch)).toBe(false);
  });

  it("when many are greylisted, then that is not a refusal", () => {
    expect(tell(repeated(50, answer({ outcome: "retry", text: "greylisted" }))).state.mode).toBe("open");
  });
});

describe("whatever happens", () => {
  const answers = fc.record({
    message: fc.constantFrom(null, "1/1", "1/2", "1/3"),
    outcome: fc.constantFrom<ServerAnswer["outcome"]>("sent", "retry", "bounced", "failed", "held", "unknown"),
    sender: fc.constantFrom<ServerAnswer["sender"]>("none", "none", "back-off", "hours", "breaker"),
    strike: fc.boolean(),
    domain: fc.constantFrom("a.org", "b.org"),
    backsDomainOff: fc.boolean(),
    afterSeconds: fc.constantFrom(null, 10, 4000),
    text: fc.constantFrom("one", "two"),
    said: fc.constantFrom(
      { stage: "rcpt-to", code: 421, enhancedCode: null },
      { stage: "final-dot", code: 550, enhancedCode: "5.7.1" },
    ),
    maskedText: fc.constantFrom("one", "two"),
    hasAddressCode: fc.boolean(),
    needsOthers: fc.boolean(),
  });
  const steps = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant("admit" as const) }) },
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant("answer" as const), which: fc.nat(9), answer: answers }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("released" as const), which: fc.nat(9) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("time" as const), ms: fc.nat(20 * MINUTE) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("resume" as const) }) },
    ),
    { maxLength: 150 },
  );
  type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

  function play(played: Steps, look: (state: SenderHealth, onTheirWay: readonly number[]) => void) {
    let [state, now] = [HEALTHY_SENDER, NOW];
    const onTheirWay: number[] = [];
    for (const step of played) {
      if (step.kind === "admit") {
        const asked = admit(state, "c.org", now);
        state = asked.state;
        if (asked.admission.kind === "go") onTheirWay.push(asked.admission.epoch);
      } else if (step.kind === "time") now += step.ms;
      else if (step.kind === "resume") state = nextSenderHealth(state, step, now).state;
      else {
        const [epoch] = onTheirWay.splice(step.which % Math.max(1, onTheirWay.length), 1);
        const event = step.kind === "answer" ? { kind: step.kind, answer: step.answer } : { kind: step.kind };
        if (epoch !== undefined) state = nextSenderHealth(state, { ...event, epoch }, now).state;
      }
      look(state, onTheirWay);
    }
    return { state, now };
  }

  it("when it is half open, then never more than one message is on its way", () => {
    fc.assert(
      fc.property(steps, (played) => {
        play(played, (state, onTheirWay) => {
          const probes = onTheirWay.filter((epoch) => epoch === state.epoch).length;
          const isHalfOpen = state.mode === "probing";
          expect(isHalfOpen ? probes : 0).toBe("isProbing" in state && state.isProbing ? 1 : 0);
          expect(JSON.parse(JSON.stringify(state))).toEqual(state);
          expect(state.recent.length).toBeLessThanOrEqual(50);
        });
      }),
      { numRuns: 300 },
    );
  });

  it("when the next message goes out, then the sender is open again", () => {
    fc.assert(
      fc.property(steps, (played) => {
        const ended = play(played, () => undefined);
        let state = restoreSenderHealth(ended.state);
        if (needsAnswer(state)) state = nextSenderHealth(state, { kind: "resume" }, ended.now).state;
        const later = Math.max(ended.now, untilOf(state) ?? 0);
        const { state: asked, admission } = admit(state, "c.org", later);
        expect(admission.kind).toBe("go");
        const event = { kind: "answer" as const, answer: SENT, epoch: asked.epoch };
        expect(nextSenderHealth(asked, event, later).state.mode).toBe("open");
      }),
      { numRuns: 300 },
    );
  });

  it("a good message waits for one probe interval at most, whatever 16 others are refused for", () => {
    const refusals = fc.constantFrom(
      answer({ outcome: "held", sender: "breaker", text: "550 5.7.1 not you" }),
      answer({ outcome: "failed", strike: true, text: "554 spam" }),
      answer({ outcome: "bounced", text: "550 5.1.1 no such user", hasAddressCode: true }),
      answer({ outcome: "retry", text: "450 greylisted" }),
      answer({ outcome: "failed", text: "550 no" }),
    );
    fc.assert(
      fc.property(steps, fc.array(refusals, { maxLength: 16 }), (played, others) => {
        const ended = play(played, () => undefined);
        fc.pre(!needsAnswer(ended.state));
        const { self, ask, hear } = world(restoreSenderHealth(ended.state));
        self.now = Math.max(ended.now, untilOf(self.state) ?? 0);
        const startedAt = self.now;
        const admitInTime = (): number => {
          const first = ask("c.org");
          if (first.kind === "wait") self.now = first.domainUntil ?? untilOf(self.state) ?? Number.NaN;
          const admission = first.kind === "wait" ? ask("c.org") : first;
          return admission.kind === "go" ? admission.epoch : Number.NaN;
        };
        for (const [at, other] of others.entries()) {
          hear({ ...other, message: `2/${at}` }, admitInTime());
          // A stale list is left to the operator.
          fc.pre(!needsAnswer(self.state));
        }
        expect(admitInTime()).toBe(self.state.epoch);
        expect(self.now - startedAt).toBeLessThanOrEqual(15 * MINUTE);
      }),
      { numRuns: 300 },
    );
  });

  it("when a few recipients are odd, then each stops the sender at most once, and all other messages go out", () => {
    const oddities = fc.constantFrom(
      answer({ outcome: "held", sender: "breaker", text: "550 5.1.1 mailbox full", hasAddressCode: true }),
      answer({ outcome: "held", sender: "breaker", text: "550 5.7.1 not you" }),
      answer({ outcome: "retry", sender: "back-off", text: "421 go away" }),
      answer({ outcome: "retry", sender: "hours", text: "452 4.5.3 quota" }),
    );
    const odd = fc.array(oddities, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(odd, fc.integer({ min: 30, max: 60 }), (heard, ordinary) => {
        const { self, ask, hear } = world();
        // The odd messages are always due first. One that failed is retried after the next success.
        const waiting = Array.from({ length: ordinary }, () => "ok");
        const back = heard.map((_, at) => String(at));
        let stops = 0;
        let ready = [...back];
        while (waiting.length > 0 && stops <= heard.length) {
          const message = ready.shift() ?? waiting.shift() ?? "";
          const admission = ask();
          if (admission.kind === "wait") {
            stops += 1;
            self.now = admission.domainUntil ?? untilOf(self.state) ?? Number.NaN;
            if (message === "ok") waiting.push(message);
            else ready.unshift(message);
            continue;
          }
          hear(message === "ok" ? SENT : { ...(heard[Number(message)] as ServerAnswer), message }, admission.epoch);
          if (message === "ok") ready = [...back];
        }
        expect(stops).toBeLessThanOrEqual(heard.length);
      }),
      { numRuns: 300 },
    );
  });

  it("when many recipients are odd and all come back whenever the sender is well, then no operator is asked", () => {
    const { self, hear } = world();
    const heard = { outcome: "held", sender: "breaker", text: "550 5.1.1 blocked", hasAddressCode: true } as const;
    const odd: ServerAnswer[] = [];
    while (odd.length < 400 && !needsAnswer(self.state)) {
      odd.push(answer({ ...heard, message: `1/${odd.length}` }));
      for (const each of [...odd, SENT, SENT, SENT, SENT, SENT, SENT]) hear(each);
    }
    expect([odd.length, needsAnswer(self.state), self.state.mode]).toEqual([400, false, "open"]);
  });
});
