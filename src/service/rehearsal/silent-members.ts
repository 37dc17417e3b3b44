/** When members of Autopilot who get no survey would have been surveyed. */
import { readAutopilotSettings } from "../domain/surveys/autopilot/autopilot-settings.ts";
import { type Platform, PLATFORMS } from "../../contract/resources.ts";
import { peoplePages } from "../domain/people/everybody.ts";
import { canReceive } from "../domain/people/suppressions.ts";
import type { AutopilotSettings, MembershipRow, PersonRow, ProjectRow, Store } from "../domain/ports.ts";
import { dueMoment } from "../domain/surveys/due-moment.ts";
import type { Held } from "./results.ts";

export interface Silent {
  readonly held: Held[];
  readonly withoutAddress: number;
}

/** Until then, Unix seconds. */
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
          else if (settings.active && !(await canReceive(tx, project, person, platform)))
            held.push(...heldBack(member, explainSilence(person, platform), settings, { now: tx.now, until }));
        }
      });
  return { held, withoutAddress };
}

function explainSilence({ bouncedAt }: PersonRow, platform: Platform): Held["why"] {
  return platform === "email" && bouncedAt !== null ? "bounced" : "unsubscribed";
}

/** As if every earlier survey had been sent on time. */
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
