import {
  admit,
  HEALTHY_SENDER,
  nextSenderHealth,
  type HealthStep,
  type SenderHealth,
  type ServerAnswer,
} from "../../../../src/service/sending/pacing/sender-health.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const NOW = 1_800_000_000_000;

/** When the next message can be tried; `null` if open, probing or waiting for an operator. */
export const untilOf = (state: SenderHealth): number | null => ("until" in state ? state.until : null);

export const answer = (more: Partial<ServerAnswer>): ServerAnswer => ({
  outcome: "sent",
  sender: "none",
  strike: false,
  domain: "x.org",
  backsDomainOff: false,
  afterSeconds: null,
  text: "",
  said: { stage: "rcpt-to", code: null, enhancedCode: null },
  maskedText: more.text ?? "",
  hasAddressCode: false,
  needsOthers: false,
  message: null,
  ...more,
});
export const SENT = answer({});
export const BUSY = answer({ outcome: "retry", sender: "back-off", text: "421 busy" });
export const LOGIN = answer({ outcome: "held", sender: "breaker", text: "535 wrong password" });
export const UNKNOWN_USER = answer({ outcome: "bounced", text: "no such user", hasAddressCode: true });
export const NO_CODE = answer({ outcome: "bounced", text: "no such user <a1@x.org>", maskedText: "no such user <>" });

export function world(start: SenderHealth = HEALTHY_SENDER) {
  const self = { state: start, now: NOW };
  const ask = (domain = "x.org") => {
    const { state, admission } = admit(self.state, domain, self.now);
    self.state = state;
    return admission;
  };
  const verdict = (what: ServerAnswer, epoch = self.state.epoch): HealthStep["verdict"] => {
    const step = nextSenderHealth(self.state, { kind: "answer", answer: what, epoch }, self.now);
    self.state = step.state;
    return step.verdict;
  };
  const hear = (what: ServerAnswer, epoch?: number): boolean => verdict(what, epoch) === "held";
  const resume = (): void => void (self.state = nextSenderHealth(self.state, { kind: "resume" }, self.now).state);
  /** Sends one message if admitted, and records its answer. Returns false if it wasn't admitted. */
  const send = (what: ServerAnswer, domain = "x.org"): boolean => {
    const admission = ask(domain);
    if (admission.kind === "go") hear(what, admission.epoch);
    return admission.kind === "go";
  };
  return { self, ask, hear, verdict, resume, send };
}
