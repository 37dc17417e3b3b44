import { PLATFORMS } from "../../contract/resources.ts";
import { createWallClock, DAY_SECONDS } from "../../runtime/zone.ts";
import { readReminder } from "../domain/delivery/reminders.ts";
import { peoplePages } from "../domain/people/everybody.ts";
import { canReceive } from "../domain/people/suppressions.ts";
import type { AutopilotSettings, DueQuestion, MembershipRow, ProjectRow, Store, Transaction } from "../domain/ports.ts";
import { readAutopilotSettings } from "../domain/surveys/autopilot/autopilot-settings.ts";
import { dueMoment, plannedMoment } from "../domain/surveys/due-moment.ts";
import { nextOpen } from "../domain/windows/open-time.ts";
import type { Held } from "./results.ts";

/**
 * Returns what delayed the message. Call this before the message is settled, which schedules the member's next survey.
 */
export async function findWaits(tx: Transaction, due: DueQuestion, zone: string): Promise<Held[]> {
  const wallClock = createWallClock(zone);
  const localDay = (at: number): number => Math.floor(wallClock(at) / DAY_SECONDS);
  const platform = "survey" in due ? due.survey.channel : due.channel;
  const { window, frequency } = await readAutopilotSettings(tx, due.project, platform);
  const plannedAt = await findPlanned(tx, due, { window, frequency });
  const isWindowed = "survey" in due || due.autopilot;
  const opensAt = isWindowed ? nextOpen(plannedAt, window) : plannedAt;
  return [
    ...(opensAt > plannedAt ? [{ at: plannedAt, why: "window" } as const] : []),
    ...(localDay(opensAt) < localDay(tx.now) ? [{ at: opensAt, why: "limit" } as const] : []),
  ];
}

/** When the message would be due without the sending window. */
async function findPlanned(
  tx: Transaction,
  due: DueQuestion,
  pace: Pick<AutopilotSettings, "window" | "frequency">,
): Promise<number> {
  const { project, scheduledAt, person, requestId } = due;
  if ("survey" in due) {
    const { after } = await readReminder(tx, project);
    return Math.min(scheduledAt, (due.survey.sentAt ?? tx.now) + (after ?? 0));
  }
  const member = due.autopilot ? await tx.autopilot.member(project.id, due.channel, person.id) : null;
  if (member === null || member.nextRequestId !== requestId) return scheduledAt;
  return Math.min(scheduledAt, Math.max(plannedMoment({ ...member, ...pace }), member.notBefore ?? 0));
}

export interface Silent {
  readonly held: Held[];
  readonly withoutAddress: number;
}

/** Autopilot members who get no surveys, and when surveys would have been due, up to `until` (Unix seconds). */
export async function findSilentMembers(store: Store, project: ProjectRow, until: number): Promise<Silent> {
  const held: Held[] = [];
  let withoutAddress = 0;
  for await (const people of peoplePages(store, project))
    for (const platform of PLATFORMS)
      await store.read(async (tx) => {
        const settings = await readAutopilotSettings(tx, project, platform);
        for (const person of people) {
          const member = await tx.autopilot.member(project.id, platform, person.id);
          if (member === null || member.nextRequestId !== null) continue;
          if ((platform === "email" ? person.email : person.phoneNumber) === null) withoutAddress += 1;
          else if (settings.active && !(await canReceive(tx, project, person, platform))) {
            const why = platform === "email" && person.bouncedAt !== null ? "bounced" : "unsubscribed";
            held.push(...heldBack(member, why, settings, { now: tx.now, until }));
          }
        }
      });
  return { held, withoutAddress };
}

/** Assumes that every earlier survey was sent on time. */
function heldBack(
  { start, number, notBefore }: MembershipRow,
  why: Held["why"],
  { frequency, window }: AutopilotSettings,
  { now, until }: { readonly now: number; readonly until: number },
): Held[] {
  const facts = { number, notBefore, frequency, window };
  const moments: Held[] = [];
  for (let at = dueMoment({ ...facts, start, now }); at <= until;) {
    moments.push({ at, why });
    at = dueMoment({ ...facts, start: { kind: "after", at }, now: at });
  }
  return moments;
}
