import { labelAt } from "../../../../runtime/calendar/periods.ts";
import type { PeriodRow } from "../../../../service/rehearsal/periods.ts";
import type { Held, Rehearsal, RehearsedMessage } from "../../../../service/rehearsal/results.ts";
import type { Deps } from "../../../kit/deps.ts";
import { countOf, formatCount } from "../../../../contract/text/whole-number.ts";
import { createWallClock } from "../../../../runtime/zone.ts";

const BAR_MAX = 40;
const PEOPLE_SHOWN = 3;

export function drawRehearsal(deps: Deps, rehearsal: Rehearsal, periods: readonly PeriodRow[]): string {
  const facts = [
    `${countOf(countKind(rehearsal, "survey"), "survey")} and ${countOf(countKind(rehearsal, "reminder"), "reminder")}, times of ${rehearsal.zone}`,
    busiestDay(rehearsal),
    mostAsked(rehearsal.messages),
    heldBack(rehearsal),
    rehearsal.withoutAddress === 0
      ? null
      : `${countOf(rehearsal.withoutAddress, "membership has", "memberships have")} no address`,
  ];
  const lines = [...barLines(deps, periods), "", ...facts.filter((fact) => fact !== null)];
  return lines.map((line) => `${line}\n`).join("");
}

function barLines({ streams, options }: Deps, periods: readonly PeriodRow[]): string[] {
  const totals = periods.map(({ surveys, reminders }) => surveys + reminders);
  const most = Math.max(1, ...totals);
  const counts = totals.map((total) => (total === 0 ? "" : formatCount(total)));
  const countWidth = Math.max(...counts.map((count) => count.length));
  const nameWidth = Math.max(...periods.map(({ period }) => period.length));
  const room = Math.max(5, Math.min(BAR_MAX, streams.out.columns - nameWidth - countWidth - 4));
  return periods.map(({ period }, at) => {
    const total = totals[at] ?? 0;
    const cells = total === 0 ? 0 : Math.max(1, Math.round((total / most) * room));
    const bar = (options.unicode ? "█" : "#").repeat(cells);
    return `${period.padEnd(nameWidth)}  ${counts[at]?.padStart(countWidth)}  ${bar}`.trimEnd();
  });
}

function countKind({ messages }: Rehearsal, kind: RehearsedMessage["kind"]): number {
  return messages.filter((message) => message.kind === kind).length;
}

function busiestDay({ messages, zone }: Rehearsal): string | null {
  const wallClock = createWallClock(zone);
  const days = countBy(messages, ({ sent_at: at }) => labelAt("day", at, wallClock));
  const [first] = days;
  return first === undefined ? null : `Busiest day: ${first[0]} with ${formatCount(first[1])}`;
}

function mostAsked(messages: readonly RehearsedMessage[]): string | null {
  const surveys = messages.filter(({ kind }) => kind === "survey");
  const people = countBy(surveys, ({ email, phone_number: phone, person_id: id }) => email ?? phone ?? id);
  if (people.length === 0) return null;
  const shown = people.slice(0, PEOPLE_SHOWN).map(([who, count]) => `${who} (${count})`);
  return `Asked most often: ${shown.join(", ")}`;
}

const HELD: readonly (readonly [Held["why"], string])[] = [
  ["throttled", "by the throttle"],
  ["unsubscribed", "unsubscribed"],
  ["bounced", "bounced"],
  ["limit", "by the daily limit"],
  ["window", "by the window"],
];

function heldBack({ held, until }: Rehearsal): string | null {
  const counts = HELD.map(([name, words]) => ({
    words,
    count: held.filter(({ why, at }) => why === name && at <= until).length,
  }));
  const some = counts.filter(({ count }) => count > 0).map(({ words, count }) => `${formatCount(count)} ${words}`);
  return some.length === 0 ? null : `Held back: ${some.join(", ")}`;
}

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one);
}
