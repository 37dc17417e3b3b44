import { FURTHEST_SECOND, toIsoTime } from "../../../../contract/text/iso-time.ts";
import { firstSecond, toCalendarDay, type WallClock } from "../../../../runtime/zone.ts";
import type { TimeRange } from "../../inputs.ts";
import type { DuePage } from "../../ports.ts";
import type { ComingSurveys } from "../../surveys/autopilot/coming-surveys.ts";
import { LISTED_STATES, type ListedState } from "./listed.ts";
import { inOrder, type ListedDelivery, type Source } from "./sources.ts";

export async function listMerged(sources: readonly Source[], page: DuePage): Promise<readonly ListedDelivery[]> {
  const rows: ListedDelivery[] = [];
  for (const source of sources) rows.push(...(await source.list(page)));
  return inOrder(rows, page.order).slice(0, page.limit);
}

export interface DayCounts {
  readonly beginsAt: number;
  readonly endsAt: number;
  readonly day: string;
  readonly counts: Readonly<Record<ListedState, number>>;
  /** Surveys that Autopilot will add. */
  readonly coming: number;
}

/**
 * Two days before the last date that JavaScript supports, so that it is valid in all time zones. Later surveys aren't
 * listed by day.
 */
const LAST_DAY = FURTHEST_SECOND - 2 * 86_400;

/** Returns up to `limit` local days with surveys. `after` is the first second of the previous page's last day. */
export async function countDays(
  { sources, coming }: { readonly sources: readonly Source[]; readonly coming: readonly ComingSurveys[] },
  wallClock: WallClock,
  { order, limit, after, since, until: last }: Omit<DuePage, "after"> & { readonly after: number | null },
): Promise<readonly DayCounts[]> {
  const until = Math.min(last ?? LAST_DAY, LAST_DAY);
  const days: DayCounts[] = [];
  let range = order === "asc" ? { since: after === null ? since : nextDay(after, wallClock), until } : { since, until };
  if (order === "desc" && after !== null) range = { since, until: after - 1 };
  while (days.length < limit) {
    const [first] = await listMerged(sources, { ...range, order, after: null, limit: 1 });
    const moments = [...(first === undefined ? [] : [first.at]), ...within(coming, range).map(({ at }) => at)];
    if (moments.length === 0) break;
    const nearest = order === "asc" ? Math.min(...moments) : Math.max(...moments);
    const beginsAt = firstSecond(toCalendarDay(wallClock(nearest)), wallClock);
    const endsAt = nextDay(beginsAt, wallClock) - 1;
    const shown = { since: Math.max(beginsAt, since ?? beginsAt), until: Math.min(endsAt, until) };
    days.push({
      beginsAt,
      endsAt,
      day: toIsoTime(wallClock(nearest)).replace(/T.*/, ""),
      counts: await countStates(sources, shown),
      coming: within(coming, shown).reduce((sum, { count }) => sum + count, 0),
    });
    range = order === "asc" ? { since: endsAt + 1, until } : { since, until: beginsAt - 1 };
  }
  return days;
}

function within(coming: readonly ComingSurveys[], { since, until }: TimeRange): readonly ComingSurveys[] {
  return coming.filter(({ at }) => at >= (since ?? 0) && at <= (until ?? Infinity));
}

function nextDay(beginsAt: number, wallClock: WallClock): number {
  const day = toCalendarDay(wallClock(beginsAt));
  return firstSecond({ ...day, day: day.day + 1 }, wallClock);
}

async function countStates(
  sources: readonly Source[],
  range: { readonly since: number; readonly until: number },
): Promise<DayCounts["counts"]> {
  const counts = Object.fromEntries(LISTED_STATES.map((state) => [state, 0])) as Record<ListedState, number>;
  for (const { state, count } of sources) counts[state] += await count(range);
  return counts;
}
