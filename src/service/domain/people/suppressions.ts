/** Bounces, unsubscribes and suppressions (4.5, 4.6). A suppression outlives the person. */
import { noteOverwritten } from "../operation-log/operation-log.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { SurveyStatus } from "../../../contract/text/survey-status.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { PersonRow, SuppressionReason, Transaction } from "../ports.ts";
import { noteEvent } from "../webhooks/events.ts";

/** Returns false if the person was already marked. */
async function suppressEmail(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  reason: "unsubscribe" | "bounce",
): Promise<boolean> {
  const mark = reason === "bounce" ? "bouncedAt" : "unsubscribedAt";
  if (person[mark] !== null) return false;
  await tx.people.update(project.id, person.id, { [mark]: tx.now });
  await keepSuppressions(tx, project, { ...person, [mark]: tx.now });
  await cancelEmail(tx, project, person, reason === "bounce" ? "bounced" : "unsubscribed");
  return true;
}

/** Marks are lost when the person is deleted or renamed, so the address is suppressed too. */
export async function keepSuppressions(tx: Transaction, project: Project, person: PersonRow): Promise<void> {
  const { email, bouncedAt, unsubscribedAt } = person;
  if (email === null) return;
  if (unsubscribedAt !== null)
    await tx.suppressions.add(project.id, "email", email, { reason: "unsubscribe", at: unsubscribedAt });
  if (bouncedAt !== null) await tx.suppressions.add(project.id, "email", email, { reason: "bounce", at: bouncedAt });
}

export type SuppressionMarks = Pick<PersonRow, "unsubscribedAt" | "unsubscribedBy" | "bouncedAt">;

/**
 * Marks for a person with a new e-mail address. An unsubscribe stays with the person; a bounce stays with the old
 * address. Links in the person's messages can't undo an unsubscribe that was recorded for the new address.
 */
export async function suppressionMarks(
  tx: Transaction,
  project: Project,
  { email, unsubscribedAt, unsubscribedBy, bouncedAt }: PersonRow,
): Promise<SuppressionMarks> {
  if (email === null) return { unsubscribedAt, unsubscribedBy, bouncedAt };
  const known = await tx.suppressions.list(project.id, "email", email);
  const since = (reason: SuppressionReason): number | null =>
    known.find((suppression) => suppression.reason === reason)?.at ?? null;
  const at = since("unsubscribe");
  const isTheirs = at === null || at === unsubscribedAt;
  return {
    unsubscribedAt: unsubscribedAt ?? at,
    unsubscribedBy: isTheirs ? unsubscribedBy : null,
    bouncedAt: since("bounce"),
  };
}

/** The person has their `suppressionMarks`. */
export async function followMarks(tx: Transaction, project: Project, person: PersonRow): Promise<void> {
  await keepSuppressions(tx, project, person);
  if (person.unsubscribedAt !== null) await cancelEmail(tx, project, person, "unsubscribed");
  else if (person.bouncedAt !== null) await cancelEmail(tx, project, person, "bounced");
}

export async function canReceive(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  channel: Channel,
): Promise<boolean> {
  return (await findSuppression(tx, project, person, channel)) === null;
}

export async function findSuppression(
  tx: Transaction,
  project: Project,
  { email, phoneNumber, unsubscribedAt, bouncedAt }: PersonRow,
  channel: Channel,
): Promise<SurveyStatus | null> {
  if ((channel === "email" ? email : phoneNumber) === null) return { status: "unreachable", since: null, until: null };
  if (channel === "sms") {
    const [stop] = await tx.suppressions.list(project.id, channel, phoneNumber ?? "");
    return stop === undefined ? null : { status: "unsubscribed", since: stop.at, until: null };
  }
  if (unsubscribedAt !== null) return { status: "unsubscribed", since: unsubscribedAt, until: null };
  return bouncedAt === null ? null : { status: "bounced", since: bouncedAt, until: null };
}

async function cancelEmail(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  reason: "unsubscribed" | "bounced",
): Promise<void> {
  await tx.requests.cancel(project.id, person.id, { channel: "email", autopilot: null, reason });
}

/** Cancels pending mail; responses stay. `created` is false if the person was already unsubscribed (4.6). */
export async function unsubscribe(tx: Transaction, project: Project, email: string): Promise<{ created: boolean }> {
  const person = await tx.people.byEmail(project.id, email);
  if (person === null) throw new InvalidError({ person_email: ["does not exist"] });
  return unsubscribePerson(tx, project, person.id);
}

/** `requestId` is the survey whose link was used. */
export async function unsubscribePerson(
  tx: Transaction,
  project: Project,
  personId: number,
  requestId: number | null = null,
): Promise<{ created: boolean }> {
  const person = await tx.people.byId(project.id, personId);
  if (person === null) return { created: false };
  const created = await suppressEmail(tx, project, person, "unsubscribe");
  const isLast = created || requestId === null;
  if (isLast && person.unsubscribedBy !== requestId)
    await tx.people.update(project.id, personId, { unsubscribedBy: requestId });
  else if (!created) await tx.people.countWrite(project.id, person);
  if (created) await noteEvent(tx, project, { type: "unsubscribe.created", personId });
  if (created) noteOverwritten(tx, "people.unsubscribe", personId);
  return { created };
}

export async function resubscribePerson(tx: Transaction, project: Project, person: PersonRow): Promise<void> {
  if (person.unsubscribedAt === null) return;
  await tx.people.update(project.id, person.id, { unsubscribedAt: null, unsubscribedBy: null });
  if (person.email !== null) await tx.suppressions.remove(project.id, "email", person.email, "unsubscribe");
}

/** Returns false if texts had already been stopped. */
export async function stopTexts(tx: Transaction, project: Project, phoneNumber: string): Promise<boolean> {
  await tx.people.countText(project.id, phoneNumber);
  if (await hasStopped(tx, project, phoneNumber)) return false;
  await tx.suppressions.add(project.id, "sms", phoneNumber, { reason: "stop", at: tx.now });
  const person = await tx.people.byPhone(project.id, phoneNumber);
  if (person !== null)
    await tx.requests.cancel(project.id, person.id, { channel: "sms", autopilot: null, reason: "unsubscribed" });
  return true;
}

export async function resumeTexts(tx: Transaction, project: Project, phoneNumber: string): Promise<boolean> {
  await tx.people.countText(project.id, phoneNumber);
  if (!(await hasStopped(tx, project, phoneNumber))) return false;
  await tx.suppressions.remove(project.id, "sms", phoneNumber, "stop");
  return true;
}

async function hasStopped(tx: Transaction, project: Project, phoneNumber: string): Promise<boolean> {
  return (await tx.suppressions.list(project.id, "sms", phoneNumber)).some(({ reason }) => reason === "stop");
}

export async function recordBounce(tx: Transaction, project: Project, personId: number): Promise<void> {
  const person = await tx.people.byId(project.id, personId);
  if (person !== null) await suppressEmail(tx, project, person, "bounce");
}
