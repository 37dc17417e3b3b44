import type { PersonSurvey } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import { toIsoTime } from "../../../contract/text/iso-time.ts";
import { InvalidError } from "../errors.ts";
import type { PersonReference, Project } from "../inputs.ts";
import { noteOverwritten } from "../operation-log/operation-log.ts";
import { toPersonSurvey } from "../people/person-details.ts";
import { requireReferenced } from "../people/person-identity.ts";
import type { DeliveryRow, DeliveryState, Transaction } from "../ports.ts";
import { nextOpen } from "../windows/open-time.ts";
import { readAutopilotSettings } from "./autopilot/autopilot-settings.ts";

export interface Reschedule {
  /** Unix seconds. */
  readonly scheduledAt: number;
  /** Which survey to move, if there are several. */
  readonly channel: Channel | null;
  readonly survey: string | null;
}

/** Allows for slow client clocks, and for "now" having passed when the request arrives. */
const PAST_SECONDS_MAX = 60;
export const SURVEYS_READ_MAX = 1000;
const WAITING: ReadonlySet<DeliveryState> = new Set(["scheduled", "retrying", "held"]);

/** An Autopilot survey moves to the next opening of its window. Throws NotFoundError and InvalidError. */
export async function rescheduleSurvey(
  tx: Transaction,
  project: Project,
  reference: PersonReference,
  input: Reschedule,
): Promise<PersonSurvey> {
  if (input.scheduledAt < tx.now - PAST_SECONDS_MAX) throw new InvalidError({ scheduled_at: ["is in the past"] });
  const person = await requireReferenced(tx, project, reference);
  const waiting = await waitingSurveys(tx, project, person.id);
  const { requestId, channel, autopilot, attempts, isAutopilotPaused } = chooseSurvey(waiting, input);
  const wanted = Math.max(input.scheduledAt, tx.now);
  const at = autopilot ? nextOpen(wanted, (await readAutopilotSettings(tx, project, channel)).window) : wanted;
  const state = isAutopilotPaused ? "paused" : attempts > 0 ? "retrying" : "scheduled";
  const to = { state, scheduledAt: at, dueAt: isAutopilotPaused ? null : at };
  await tx.requests.reschedule(project.id, { requestId, personId: person.id }, to);
  if (autopilot) await tx.autopilot.setNext(project.id, channel, person.id, { requestId, start: { kind: "set", at } });
  noteOverwritten(tx, "people.reschedule", person.id);
  return toPersonSurvey((await tx.deliveries.byId(project.id, requestId))!);
}

/** Omits surveys that are being sent. */
export async function waitingSurveys(
  tx: Transaction,
  project: Project,
  personId: number,
): Promise<readonly DeliveryRow[]> {
  const surveys = await tx.deliveries.ofPerson(project.id, personId, SURVEYS_READ_MAX);
  return surveys.filter(isWaiting);
}

export function isWaiting({ state, claimer }: DeliveryRow): boolean {
  return claimer === null && WAITING.has(state);
}

function chooseSurvey(waiting: readonly DeliveryRow[], { channel, survey }: Reschedule): DeliveryRow {
  const [only, ...others] = waiting.filter(
    (one) => (channel === null || one.channel === channel) && (survey === null || String(one.requestId) === survey),
  );
  if (only === undefined) throw new InvalidError({ person: ["has no such survey that waits"] });
  if (others.length === 0) return only;
  const list = [only, ...others].map(
    ({ requestId, scheduledAt, ...one }) =>
      `${requestId} (${one.channel}, ${toIsoTime(scheduledAt)}${one.autopilot ? ", Autopilot" : ""})`,
  );
  throw new InvalidError({ survey: [`must be one of ${list.join(", ")}; or name the channel`] });
}
