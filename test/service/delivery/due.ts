import type { DueSurvey } from "../../../src/service/domain/ports.ts";

export function dueSurvey(given: Partial<DueSurvey> = {}): DueSurvey {
  return {
    project: { id: 1, name: "default" },
    requestId: 7,
    channel: "email",
    autopilot: false,
    token: "tokenOf22characters-_x",
    properties: {},
    scheduledAt: 1_750_000_000,
    unsubscribeToken: "unsubscribeTokenOf22-_",
    attempts: 0,
    firstAttemptAt: null,
    frozen: null,
    claimer: "test",
    claims: 1,
    person: { id: 3, email: "ada@example.com", name: "Ada", phoneNumber: "+14155551212" },
    ...given,
  };
}
