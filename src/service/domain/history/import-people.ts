import { emailKey } from "../../../contract/text/email.ts";
import type { Project } from "../inputs.ts";
import { newest } from "../people/person-identity.ts";
import type { PersonRow, Transaction } from "../ports.ts";
import { UNKNOWN_PERSON } from "../people/person-rows.ts";
import { keepSuppressions, type SuppressionMarks, suppressionMarks } from "../people/suppressions.ts";
import type { DomainEvent } from "../webhooks/events.ts";
import type { PastPerson, StoredPastPerson } from "./rows.ts";

export type ConflictPolicy = "keep" | "replace";

export interface ImportRules {
  readonly policy: ConflictPolicy;
  /** The project has no id from this one on, so these need no look-up. */
  readonly firstFree: number;
}

export interface RowFinding {
  readonly index: number;
  readonly text: string;
}

/** Each row is in one of the first five. */
export interface Outcomes {
  kept: number;
  same: number;
  changed: number;
  readonly conflicts: RowFinding[];
  readonly refused: RowFinding[];
  /** Ids of the source that belong to someone else here, and the id of the same person here. */
  readonly aliases: (readonly [id: number, known: number])[];
  /** People created for their responses, without an address. */
  readonly nameless: number[];
  /** Previously nameless people who now have an address. */
  readonly named: number[];
  readonly events: DomainEvent[];
}

export type Imported = Omit<Outcomes, "events">;

export function createOutcomes(): Outcomes {
  const counts = { kept: 0, same: 0, changed: 0 };
  return { ...counts, conflicts: [], refused: [], aliases: [], nameless: [], named: [], events: [] };
}

export interface Known {
  readonly byId: Map<number, PersonRow>;
  readonly byEmail: Map<string, PersonRow>;
  readonly byPhone: Map<string, PersonRow>;
}

/** Suppresses addresses of people who unsubscribed or bounced, before anyone is stored; returns the new ones. */
export async function importSuppressions(
  tx: Transaction,
  project: Project,
  rows: readonly PastPerson[],
): Promise<Outcomes> {
  const outcomes = createOutcomes();
  const emails = rows.flatMap(({ email }) => email ?? []);
  const before = await tx.suppressions.ofEmails(project.id, emails);
  for (const { email, unsubscribedAt, bouncedAt } of rows) {
    if (email === null) continue;
    const reason = unsubscribedAt === null ? "bounce" : "unsubscribe";
    if (before.get(email)?.some((each) => each.reason === reason) !== true) outcomes.kept += 1;
    await keepSuppressions(tx, project, { ...UNKNOWN_PERSON, email, unsubscribedAt, bouncedAt });
  }
  return outcomes;
}

export async function findKnown(
  tx: Transaction,
  project: Project,
  rows: readonly PastPerson[],
  firstFree: number,
): Promise<Known> {
  const { history } = tx;
  const ids = rows.flatMap(({ id }) => (id === null || id >= firstFree ? [] : [id]));
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [emailKey(email)]));
  const phoneNumbers = rows.flatMap(({ phoneNumber }) => phoneNumber ?? []);
  const found = [
    ...(await history.people(project.id, "id", ids)),
    ...(await history.people(project.id, "email_key", emails)),
    ...(await history.people(project.id, "phone_number", phoneNumbers)),
  ];
  const known: Known = { byId: new Map(), byEmail: new Map(), byPhone: new Map() };
  for (const person of found) remember(known, person);
  return known;
}

function remember({ byId, byEmail, byPhone }: Known, person: PersonRow): void {
  byId.set(person.id, person);
  if (person.email !== null) byEmail.set(emailKey(person.email), person);
  if (person.phoneNumber !== null) byPhone.set(person.phoneNumber, person);
}

/**
 * The person with one of the row's addresses: the e-mail decides; a phone only counts if one of the two has no e-mail.
 */
function findOwner({ byEmail, byPhone }: Known, { email, phoneNumber }: PastPerson): PersonRow | null {
  const byAddress = email === null ? undefined : byEmail.get(emailKey(email));
  const byNumber = phoneNumber === null ? undefined : byPhone.get(phoneNumber);
  if (byAddress !== undefined || byNumber === undefined) return byAddress ?? null;
  return email === null || byNumber.email === null ? byNumber : null;
}

/** The person of a row: by id, unless someone else has that id or the row's address. */
export function findKnownPerson(known: Known, row: PastPerson): PersonRow | null {
  const byId = row.id === null ? null : (known.byId.get(row.id) ?? null);
  if (byId !== null && !isSomebodyElse(byId, row)) return byId;
  return findOwner(known, row) ?? byId;
}

export async function importPeople(
  tx: Transaction,
  project: Project,
  rows: readonly PastPerson[],
  { policy, firstFree }: ImportRules,
): Promise<Outcomes> {
  const known = await findKnown(tx, project, rows, firstFree);
  const outcomes = createOutcomes();
  const added: PersonRow[] = [];
  for (const [index, row] of rows.entries()) {
    const found = findKnownPerson(known, row);
    if (found !== null && (row.id === null || row.id === found.id)) {
      await addPeople(tx, project, { known, people: added.splice(0) }, outcomes);
      await mergePerson(tx, project, { known, id: found.id, row, index, policy }, outcomes);
      continue;
    }
    if (found !== null && row.id !== null) {
      outcomes.aliases.push([row.id, found.id]);
      outcomes.conflicts.push({ index, text: `person ${row.id} is person ${found.id} here, by e-mail or phone` });
      await addPeople(tx, project, { known, people: added.splice(0) }, outcomes);
      // Suppressions still apply.
      const { lastSentAt, unsubscribedAt, bouncedAt } = row;
      const marks = { ...UNKNOWN_PERSON, id: found.id, createdAt: null, lastSentAt, unsubscribedAt, bouncedAt };
      const apart = { ...createOutcomes(), events: outcomes.events };
      await mergePerson(tx, project, { known, id: found.id, row: marks, index, policy: "keep" }, apart);
      continue;
    }
    const person = await newPerson(tx, project, known, row, row.unsubscribedAt ?? row.bouncedAt ?? tx.now);
    added.push(person);
    if (person.phoneNumber === row.phoneNumber) outcomes.kept += 1;
    else
      outcomes.conflicts.push({ index, text: `the phone_number of person ${person.id} belongs to someone else here` });
  }
  await addPeople(tx, project, { known, people: added }, outcomes);
  return outcomes;
}

/**
 * Adds what a response says about its person and isn't stored yet. Ignores differences, because rows of people are more
 * reliable.
 */
export async function completePerson(
  tx: Transaction,
  project: Project,
  { known, id, row }: { readonly known: Known; readonly id: number; readonly row: PastPerson },
  outcomes: Outcomes,
): Promise<void> {
  const isNameless = hasNoAddress(known.byId.get(id));
  const apart = { ...createOutcomes(), events: outcomes.events };
  await mergePerson(tx, project, { known, id, row, index: 0, policy: "keep" }, apart);
  if (isNameless && !hasNoAddress(known.byId.get(id))) outcomes.named.push(id);
}

export function isIncomplete(found: PersonRow, row: PastPerson): boolean {
  return COMPLETED.some((field) => found[field] === null && row[field] !== null);
}

const COMPLETED = ["email", "phoneNumber", "name"] as const;

export function hasNoAddress(person: Pick<PersonRow, "email" | "phoneNumber"> | undefined): boolean {
  return person !== undefined && person.email === null && person.phoneNumber === null;
}

/** A person who isn't stored yet (`addPeople` does that), without a phone that someone else has. */
export async function newPerson(
  tx: Transaction,
  project: Project,
  known: Known,
  { id, createdAt, answeredAt, ...row }: PastPerson,
  since: number,
): Promise<PersonRow> {
  const person = {
    ...UNKNOWN_PERSON,
    ...row,
    lastSentAt: newest(row.lastSentAt, answeredAt ?? null),
    lastRespondedAt: answeredAt ?? null,
    phoneNumber: known.byPhone.has(row.phoneNumber ?? "") ? null : row.phoneNumber,
    id: id ?? (await tx.history.newId(project.id)),
    createdAt: createdAt ?? row.lastSentAt ?? since,
  };
  remember(known, person);
  return person;
}

export async function addPeople(
  tx: Transaction,
  project: Project,
  { known, people }: { readonly known: Known; readonly people: readonly PersonRow[] },
  { events }: Outcomes,
): Promise<void> {
  if (people.length === 0) return;
  const emails = people.flatMap(({ email }) => email ?? []);
  const suppressed = await tx.suppressions.ofEmails(project.id, emails);
  const marked = people.map((person): PersonRow => {
    const found = person.email === null ? undefined : suppressed.get(person.email);
    const since = (reason: string): number | null => found?.find((each) => each.reason === reason)?.at ?? null;
    return {
      ...person,
      unsubscribedAt: person.unsubscribedAt ?? since("unsubscribe"),
      bouncedAt: person.bouncedAt ?? since("bounce"),
    };
  });
  await tx.history.insertPeople(project.id, marked);
  for (const person of marked) remember(known, person);
  for (const { id, unsubscribedAt } of marked)
    if (unsubscribedAt !== null) events.push({ type: "unsubscribe.created", personId: id });
  for (const person of marked)
    if (person.unsubscribedAt !== null || person.bouncedAt !== null) await keepSuppressions(tx, project, person);
}

interface Merge {
  readonly known: Known;
  readonly id: number;
  readonly row: PastPerson;
  readonly index: number;
  readonly policy: ConflictPolicy;
}

const NAMES = {
  email: "email",
  phoneNumber: "phone_number",
  name: "name",
  createdAt: "created_at",
  unsubscribedAt: "unsubscribed_at",
  bouncedAt: "bounced_at",
} as const;
const COMPARED = Object.keys(NAMES) as readonly (keyof typeof NAMES)[];

/**
 * Completes a stored person. Differences are conflicts: except for times of unsubscribes and bounces, stored facts
 * aren't changed.
 */
async function mergePerson(
  tx: Transaction,
  project: Project,
  { known, id, row, index, policy }: Merge,
  outcomes: Outcomes,
): Promise<void> {
  const found = known.byId.get(id);
  if (found === undefined) return;
  if (isSomebodyElse(found, row)) {
    outcomes.refused.push({ index, text: `id ${found.id} belongs to another person in this project` });
    return;
  }
  const isPlaceholder = hasNoAddress(found);
  const wanted = COMPARED.filter((field) => row[field] !== null && !isSame(field, found, row));
  const filled = wanted.filter((field) => found[field] === null || (isPlaceholder && field === "createdAt"));
  const differing = wanted.filter((field) => !filled.includes(field));
  const taken = (["email", "phoneNumber"] as const).filter(
    (field) => wanted.includes(field) && isTaken(known, found, field, row),
  );
  const changed = [...filled, ...(policy === "replace" ? differing : [])].filter(
    (field) => !(taken as readonly string[]).includes(field),
  );
  const change = Object.fromEntries(changed.map((field) => [field, row[field]])) as Partial<StoredPastPerson>;
  const lastSentAt = newest(found.lastSentAt, row.lastSentAt);
  if (changed.length > 0 || lastSentAt !== found.lastSentAt) {
    const merged = { ...found, ...change, lastSentAt };
    const marks = change.email === undefined ? {} : await marksAtAddress(tx, project, found, merged);
    const left = { ...merged, ...marks };
    const hasTheirTime = left.unsubscribedAt === found.unsubscribedAt;
    const person = { ...left, unsubscribedBy: hasTheirTime ? left.unsubscribedBy : null };
    await tx.history.replacePerson(project.id, person);
    remember(known, person);
    if (found.unsubscribedAt === null && person.unsubscribedAt !== null)
      outcomes.events.push({ type: "unsubscribe.created", personId: found.id });
    if (person.unsubscribedAt !== null || person.bouncedAt !== null) {
      await keepSuppressions(tx, project, person);
      if (person.unsubscribedAt !== found.unsubscribedAt || person.bouncedAt !== found.bouncedAt)
        await tx.requests.cancel(project.id, found.id, { channel: "email", autopilot: null });
    }
  }
  const open = [...new Set([...taken, ...(policy === "replace" ? [] : differing)])];
  if (open.length > 0) {
    const names = open.map((field) => NAMES[field]).join(", ");
    outcomes.conflicts.push({ index, text: `person ${found.id} is stored with another ${names}` });
  } else if (changed.length > 0) outcomes.changed += 1;
  else outcomes.same += 1;
}

/** A previous owner of the e-mail address may have unsubscribed or bounced. */
async function marksAtAddress(
  tx: Transaction,
  project: Project,
  found: PersonRow,
  merged: PersonRow,
): Promise<SuppressionMarks> {
  await keepSuppressions(tx, project, found);
  const marks = await suppressionMarks(tx, project, merged);
  // The bounce of a replaced address doesn't apply to the new one.
  const isOwn = found.email === null || merged.bouncedAt !== found.bouncedAt;
  return { ...marks, bouncedAt: (isOwn ? merged.bouncedAt : null) ?? marks.bouncedAt };
}

/** Ids are per project, so a source's id may belong to someone created by the API. */
export function isSomebodyElse(found: PersonRow, row: PastPerson): boolean {
  const isOfOneAge = row.createdAt === null ? !isBeforeCreation(found, row) : row.createdAt === found.createdAt;
  if (isOfOneAge) return false;
  if (row.email !== null && found.email !== null) return emailKey(found.email) !== emailKey(row.email);
  return found.phoneNumber !== null && row.phoneNumber !== null && found.phoneNumber !== row.phoneNumber;
}

/** Unsubscribes and bounces can't precede the person's creation. */
function isBeforeCreation({ createdAt }: PersonRow, { unsubscribedAt, bouncedAt }: PastPerson): boolean {
  return [unsubscribedAt, bouncedAt].some((at) => at !== null && at < createdAt);
}

function isSame(field: keyof typeof NAMES, found: PersonRow, row: PastPerson): boolean {
  if (field !== "email" || found.email === null || row.email === null) return found[field] === row[field];
  return emailKey(found.email) === emailKey(row.email);
}

function isTaken(known: Known, found: PersonRow, field: "email" | "phoneNumber", row: PastPerson): boolean {
  const owner =
    field === "email" ? known.byEmail.get(emailKey(row.email ?? "")) : known.byPhone.get(row.phoneNumber ?? "");
  return owner !== undefined && owner.id !== found.id;
}
