/** Faults in sending: surveys sent twice, too early, to people who can't be surveyed, or never. */
import type { openSmtpSender } from "../../../src/service/sending/mail-sender.ts";
import { finishDelivery, mayStillSend, releaseDeadClaims } from "../../../src/service/domain/delivery/deliveries.ts";
import type { roomToday } from "../../../src/service/domain/delivery/pacing.ts";
import type { refuseReminder } from "../../../src/service/domain/delivery/reminders.ts";
import type { nextOpen } from "../../../src/service/domain/windows/open-time.ts";
import { retryOrGiveUp } from "../../../src/service/domain/delivery/retries.ts";
import type { refuseSurvey, scheduleAutopilot } from "../../../src/service/domain/surveys/surveys.ts";
import type { SenderRows } from "../../../src/service/domain/delivery/rows/sender-rows.ts";
import type { DeliveryRows } from "../../../src/service/domain/delivery/rows/delivery-rows.ts";
import type { QueueRows } from "../../../src/service/domain/delivery/rows/queue-rows.ts";
import { fault } from "./plant.ts";

const DELIVERIES = "service/domain/delivery/deliveries.ts";
const SURVEYS = "service/domain/surveys/surveys.ts";
const PACING = "service/domain/delivery/pacing.ts";
const REMINDERS = "service/domain/delivery/reminders.ts";
const OPEN_TIME = "service/domain/windows/open-time.ts";
const YEAR_MS = 365 * 86_400_000;

export const DELIVERY_FAULTS = [
  fault<typeof openSmtpSender>(
    "the mark is written after the last byte",
    ["service/sending/mail-sender.ts", "openSmtpSender"],
    (original) => (options) =>
      original({
        ...options,
        transport: {
          close: () => options.transport.close(),
          send: async (message, progress) => {
            const result = await options.transport.send(message, { ...progress, transmitting: async () => undefined });
            await progress.transmitting();
            return result;
          },
        },
      }),
  ),
  fault<typeof openSmtpSender>(
    "each message leaves a timer behind",
    ["service/sending/mail-sender.ts", "openSmtpSender"],
    (original) => (options) =>
      original({
        ...options,
        transport: {
          close: () => options.transport.close(),
          send: (message, progress) => {
            void options.clock.sleep(YEAR_MS);
            return options.transport.send(message, progress);
          },
        },
      }),
  ),
  fault<typeof QueueRows>(
    "the lease of what is in hand is not renewed",
    ["service/domain/delivery/rows/queue-rows.ts", "QueueRows"],
    (Original) =>
      class extends Original {
        override async renewClaims(): Promise<void> {}
      },
  ),
  fault<typeof mayStillSend>(
    "nobody asks once more before a message goes",
    [DELIVERIES, "mayStillSend"],
    () => async () => null,
  ),
  fault<typeof finishDelivery>(
    "what may have arrived is tried again",
    [DELIVERIES, "finishDelivery"],
    (original) => (tx, due, ended, onUnknown) =>
      original(tx, due, ended.kind === "unknown" ? { ...ended, kind: "retry", delaySeconds: 45 } : ended, onUnknown),
  ),
  fault<typeof releaseDeadClaims>(
    "what a dead process had marked is sent again",
    [DELIVERIES, "releaseDeadClaims"],
    (original) => (tx, living, _, project) => original(tx, living, "resend", project),
  ),
  fault<typeof retryOrGiveUp>(
    "a refusal for now ends a survey",
    ["service/domain/delivery/retries.ts", "retryOrGiveUp"],
    () => () => ({
      kind: "failed",
      reason: "refused once",
    }),
  ),
  fault<typeof DeliveryRows>(
    "what is held is never released",
    ["service/domain/delivery/rows/delivery-rows.ts", "DeliveryRows"],
    (Original) =>
      class extends Original {
        override async releaseHeld(...[limit, by]: Parameters<DeliveryRows["releaseHeld"]>): Promise<number> {
          return by.isOperator ? 0 : super.releaseHeld(limit, by);
        }
      },
  ),
  fault<typeof SenderRows>(
    "a pause of everything is forgotten",
    ["service/domain/delivery/rows/sender-rows.ts", "SenderRows"],
    (Original) =>
      class extends Original {
        override async pausedAt(): Promise<null> {
          return null;
        }
        override async limits(project: number) {
          return { ...(await super.limits(project)), pausedAt: null };
        }
        override async pausedSince(): Promise<null> {
          return null;
        }
      },
  ),
  fault<typeof refuseSurvey>(
    "the throttle is not asked",
    [SURVEYS, "refuseSurvey"],
    (original) => (tx, project, person, wish) =>
      original(tx, project, { ...person, lastSentAt: null, nextSurveyAt: null }, { ...wish, isNew: true }),
  ),
  fault<typeof nextOpen>("windows are forgotten", [OPEN_TIME, "nextOpen"], () => (at) => at),
  fault<typeof roomToday>("the limit of a day is not counted", [PACING, "roomToday"], () => async () => null),
  fault<typeof refuseReminder>(
    "whether a reminder is still wanted is not asked",
    [REMINDERS, "refuseReminder"],
    () => async () => null,
  ),
  fault<typeof finishDelivery>(
    "a reminder comes once more",
    [DELIVERIES, "finishDelivery"],
    (original) => (tx, due, ended, onUnknown) =>
      original(tx, due, "survey" in due && due.attempts === 0 ? { kind: "retry", delaySeconds: 60 } : ended, onUnknown),
  ),
  fault<typeof scheduleAutopilot>(
    "Autopilot ends after the first survey",
    [SURVEYS, "scheduleAutopilot"],
    (original) => async (tx, project, person, wish) => {
      if (wish.start.kind === "join") return original(tx, project, person, wish);
      return tx.autopilot
        .setNext(project.id, wish.member.platform, person.id, { requestId: null, start: wish.start })
        .then(() => null);
    },
  ),
];
