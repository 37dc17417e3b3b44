/** When messages may be sent: windows, the daily limit, and reminders. */
import type { Channel } from "../../../src/contract/routes.ts";
import type { Calendar } from "../world/calendar.ts";
import type { WorldOptions } from "../world/options.ts";
import { add, type Ledger, type SentMessage } from "./ledger.ts";

/** Identifies Autopilot's surveys by their subject. */
export const AUTOPILOT_SUBJECT = "Autopilot asks";
const IS_REMINDER = /^In-Reply-To: |^We asked you recently/m;

/** `single` is a survey requested by a program; reminders follow surveys of both kinds. */
export type MessageKind = "single" | "autopilot" | "reminder";

export function kindOf(text: string): MessageKind {
  if (IS_REMINDER.test(text)) return "reminder";
  return text.includes(AUTOPILOT_SUBJECT) ? "autopilot" : "single";
}

export interface Leaving {
  readonly kind: MessageKind;
  readonly project: string;
  readonly channel: Channel;
  readonly address: string;
  readonly token: string;
}

export interface Pacing {
  /** Called after the service has confirmed that the message may be sent. */
  readonly talk: (leaving: Leaving) => void;
  /** Why a message that arrives from now on is a violation; null if it isn't one. */
  readonly refuse: (leaving: Leaving) => string | null;
  readonly arrive: (leaving: Leaving, message: SentMessage) => void;
}

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
export function createPacing(
  { window, dailyLimit, reminderSeconds, onUnknown }: WorldOptions,
  { ledger, calendar, now }: { readonly ledger: Ledger; readonly calendar: Calendar; readonly now: () => number },
): Pacing {
  const slackMs = (): number => SECOND_MS + ledger.clocks.wrongMs;
  const isOpen = (ms: number): boolean => [-1, 0, 1].some((side) => calendar.isOpen(ms + side * slackMs(), window));
  const noteDay = ({ kind, project, address, token }: Leaving): void => {
    // A message resent after a lost reply counts on the day it is confirmed.
    if (dailyLimit === null || onUnknown === "resend") return;
    const day = `${project} ${calendar.dayOf(now())}`;
    const left = ledger.days.get(day) ?? new Map<string, string>();
    ledger.days.set(day, left.set(`${kind} ${token}`, address));
    const counted = [...left.values()].filter((one) => !mayBeForgotten(ledger, `${project}/${one}`)).length;
    if (counted > (ledger.clocks.wrongMs > 0 ? 2 : 1) * dailyLimit)
      ledger.violate(`${counted} messages of ${project} left on one day, more than ${dailyLimit}`);
  };
  return {
    talk: ({ kind, address }) => {
      if (kind !== "single" && !isOpen(now())) ledger.violate(`${address} gets a message (${kind}) outside the window`);
    },
    refuse: (leaving) => {
      if (leaving.kind !== "reminder") return null;
      return unwanted(ledger, leaving, { nowMs: now(), reminderSeconds, slackMs: slackMs(), onUnknown });
    },
    arrive: (leaving, message) => {
      noteDay(leaving);
      if (leaving.kind !== "reminder") return;
      add(ledger.reminders, leaving.token, message);
      if ((ledger.reminders.get(leaving.token) ?? []).length > 1)
        ledger.violate(`${leaving.address} was reminded of one survey twice`);
    },
  };
}

/** Erasing a person also removes their messages from the day's count. */
function mayBeForgotten({ endangered, people }: Ledger, key: string): boolean {
  return endangered.has(key) || people.values(key).has("gone");
}

interface ReminderRules extends Pick<WorldOptions, "reminderSeconds" | "onUnknown"> {
  readonly nowMs: number;
  readonly slackMs: number;
}

/** Why a reminder must not be sent; null if no reason is certain. */
function unwanted(
  ledger: Ledger,
  { project, address, token }: Leaving,
  { nowMs, reminderSeconds, slackMs, onUnknown }: ReminderRules,
): string | null {
  const [survey] = ledger.messages.get(token) ?? [];
  if (survey === undefined) return "of a survey that nobody got";
  if (reminderSeconds === null) return "though there are no reminders";
  if (nowMs - survey.atMs < reminderSeconds * 1000 - slackMs - SECOND_MS) return "too early";
  if (!ledger.answers.values(`${project}/${token}`).has(null)) return "after an answer";
  const key = `${project}/${address}`;
  // Until the delivery is recorded as finished, a response may count as an earlier one.
  const certainMs = survey.atMs + HOUR_MS + slackMs;
  if ((ledger.respondedMs.get(key) ?? 0) > certainMs && !mayBeForgotten(ledger, key)) return "after a response";
  if ((ledger.erasedMs.get(key) ?? 0) > survey.atMs) return "of a survey that was erased";
  const others = [...ledger.messages.values()].flat().filter((one) => one.address === address && one.token !== token);
  const isNewer = others.some(({ atMs }) => atMs > certainMs);
  return isNewer && onUnknown === "hold" && !mayBeForgotten(ledger, key) ? "of a survey before the last one" : null;
}
