/** Undoes an import's writes to a person, unless someone has touched the person since. */
import { isDeepStrictEqual } from "node:util";
import type { Platform } from "../../../contract/resources.ts";
import { deleteResponse } from "../answers/responses.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { DeliveryRow, PersonRow, Transaction } from "../ports.ts";
import { endMembership } from "../surveys/autopilot/autopilot.ts";
import { isWaiting, SURVEYS_READ_MAX } from "../surveys/reschedule.ts";
import { deletePerson } from "./people.ts";
import { changePerson } from "./person-identity.ts";
import { type Before, fingerprint } from "./person-write.ts";
import { mergeProperties, storedProperties } from "./stored-properties.ts";

export interface Write {
  /** Null for a new person; undefined if the person's row wasn't written. */
  readonly before: Before | null | undefined;
  readonly values: string | null;
  /** Null in records of versions that didn't count writes. */
  readonly writes: number | null;
  readonly createdAt: number | null;
  readonly survey: string | null;
  /** When the survey was scheduled for. Null in records of versions that didn't say it. */
  readonly surveyAt: number | null;
  /** An Autopilot membership that began at `since`. */
  readonly platform: Platform | null;
  readonly since: number | null;
  readonly response: string | null;
  readonly updatedAt: number | null;
  /** What the write changed and undo can't restore, for example `phone_number`. */
  readonly stays: readonly string[];
}

const STAYS = {
  email: "the e-mail address stays",
  phone_number: "the phone number stays",
  last_sent_at: "the time of the last survey stays",
  member_properties: "the Autopilot properties stay",
};

export interface Undone {
  readonly done: string[];
  readonly kept: string[];
}

interface Undoing {
  readonly tx: Transaction;
  readonly project: Project;
  readonly person: PersonRow;
  /** Why someone else may have written the person, or null. */
  readonly touched: string | null;
  readonly undone: Undone;
}

/**
 * `writes` are in the order in which they were made. Can be repeated: someone who is gone has nothing left to undo.
 * `isDone` is false if long changes have yet to finish a deletion.
 */
export async function undoWrites(
  tx: Transaction,
  project: Project,
  id: string,
  writes: readonly Write[],
): Promise<{ readonly undone: Undone; readonly isDone: boolean }> {
  const undone: Undone = { done: [], kept: [] };
  const key = parseId(id);
  const person = key === null ? null : await tx.people.byId(project.id, key);
  if (person === null) return { undone, isDone: true };
  const made = writes.filter(({ before }) => before !== undefined);
  // After a backup is restored, new people can get the same ids.
  if (made.some(({ createdAt }) => createdAt !== null && createdAt !== person.createdAt)) {
    undone.kept.push("the id is another person's now");
    return { undone, isDone: true };
  }
  const values = fingerprint(person);
  const isLast = (one: Write): boolean => one.writes === person.writes && one.values === values;
  const touched = findWrite(made, "the person was changed since", isLast);
  const undoing = { tx, project, person, touched, undone };
  for (const write of writes) {
    await removeResponse(undoing, write);
    await cancelSurvey(undoing, write);
    await leaveAutopilot(undoing, write);
  }
  if (made.some(({ before }) => before === null)) {
    const reason = (await findTouch(undoing, writes)) ?? touched;
    if (reason !== null) undone.kept.push(reason);
    if (undone.kept.length > 0) return { undone, isDone: true };
    undone.done.push("person deleted");
    return { undone, isDone: await deletePerson(tx, project, { by: "id", id }) };
  }
  await restore(undoing, made);
  const isNewMember = writes.some(({ platform }) => platform !== null);
  for (const [field, reason] of Object.entries(STAYS))
    if (made.some(({ stays }) => stays.includes(field)) && !(field === "member_properties" && isNewMember))
      undone.kept.push(reason);
  return { undone, isDone: true };
}

async function removeResponse(undoing: Undoing, { response, updatedAt }: Write): Promise<void> {
  const { tx, project, person, undone } = undoing;
  const id = parseId(response ?? "");
  const row = id === null ? null : await tx.responses.byId(project.id, id);
  if (row === null) return;
  if (row.personId !== person.id || row.updatedAt !== updatedAt || (row.edits ?? 0) > 0)
    return void undone.kept.push(`response ${row.id} was changed since`);
  if (row.edits === null) return void undone.kept.push("the record doesn't say whether the response was changed since");
  await deleteResponse(tx, project, String(row.id));
  undone.done.push("response deleted");
}

async function cancelSurvey({ tx, project, person, undone }: Undoing, { survey, surveyAt }: Write): Promise<void> {
  const id = parseId(survey ?? "");
  const row = id === null ? null : await tx.deliveries.byId(project.id, id);
  if (row?.personId !== person.id || row.state === "cancelled") return;
  if (!isWaiting(row)) return void undone.kept.push("the survey has left");
  if (surveyAt === null) return void undone.kept.push("the record doesn't say when the survey was scheduled for");
  if (row.plannedAt !== surveyAt) return void undone.kept.push("the survey was rescheduled since");
  await tx.requests.cancel(project.id, person.id, { channel: null, autopilot: false, id: row.requestId });
  undone.done.push("survey cancelled");
}

async function leaveAutopilot(undoing: Undoing, { platform, since }: Write): Promise<void> {
  if (platform === null || since === null) return;
  const { tx, project, person, touched, undone } = undoing;
  const members = await tx.autopilot.memberships(project.id, person.id);
  const member = members.find((one) => one.platform === platform);
  const moved = members.find((one) => one.createdAt >= since);
  if (member === undefined && moved !== undefined)
    undone.kept.push(`the person is in Autopilot (${moved.platform}) now`);
  if (member === undefined) return;
  if (member.createdAt !== since) return void undone.kept.push("the person has joined Autopilot again since");
  if (touched !== null) return void undone.kept.push(`the membership stays, because ${touched}`);
  await endMembership(tx, project, person, platform);
  undone.done.push(`removed from Autopilot (${platform})`);
}

/** Restores a name and properties that haven't changed since the last write. */
async function restore({ tx, project, person, undone }: Undoing, made: readonly Write[]): Promise<void> {
  let { name } = person;
  let properties = storedProperties(person);
  for (const { before } of made.toReversed()) {
    if (before?.name !== undefined) name = before.name;
    properties = mergeProperties(properties, before?.properties ?? {});
  }
  if (name === person.name && isDeepStrictEqual(properties, storedProperties(person))) return;
  const values = fingerprint(person);
  const reason = findWrite(made, "the name or properties were changed since", (one) => one.values === values);
  if (reason !== null) return void undone.kept.push(reason);
  await changePerson(tx, project, person, { name, properties: JSON.stringify(properties) });
  undone.done.push("person restored");
}

/**
 * Returns why the person wasn't only written by the import. `reason` says that none of the writes was the last one.
 * Writes are in the order of lines, not of arrival.
 */
function findWrite(made: readonly Write[], reason: string, isLast: (write: Write) => boolean): string | null {
  const counts = new Set<number>();
  for (const { writes } of made) {
    if (writes === null) return "the record doesn't say whether the person was changed since";
    counts.add(writes);
  }
  // Each write counts as one, so someone else's write leaves a gap.
  if (Math.max(...counts) - Math.min(...counts) >= counts.size)
    return "someone else changed the person between the import's rows";
  return made.some(isLast) ? null : reason;
}

/** Why a person that the import created isn't deleted. */
async function findTouch({ tx, project, person }: Undoing, writes: readonly Write[]): Promise<string | null> {
  const { id, createdAt, phoneNumber } = person;
  if (await tx.responses.haveCome(project.id, id, 0, 0)) return "the person has responses";
  const isOurs = ({ requestId, autopilot, channel, state }: DeliveryRow): boolean =>
    state === "cancelled" &&
    writes.some(({ survey, platform }) => (autopilot ? platform === channel : survey === String(requestId)));
  const surveys = await tx.deliveries.ofPerson(project.id, id, SURVEYS_READ_MAX);
  if (!surveys.every(isOurs)) return "the person has other surveys";
  if ((await tx.autopilot.memberships(project.id, id)).length > 0) return "the person is in Autopilot";
  const stops = phoneNumber === null ? [] : await tx.suppressions.list(project.id, "sms", phoneNumber);
  const marks = [person.unsubscribedAt, person.bouncedAt, ...stops.map(({ at }) => at)];
  if (marks.some((at) => at !== null && at >= createdAt)) return "the person unsubscribed or bounced since";
  const consents = await tx.people.resubscriptions(project.id, id);
  return consents.length > 0 ? "the person was resubscribed since" : null;
}
