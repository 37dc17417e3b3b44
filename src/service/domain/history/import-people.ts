import { emailKey } from "../../../contract/text/email.ts";
import type { Project } from "../inputs.ts";
import { newest } from "../people/person-identity.ts";
import type { PersonRow, Transaction } from "../ports.ts";
import { UNKNOWN_PERSON } from "../people/person-rows.ts";
import { keepSuppressions, type SuppressionMarks, suppressionMarks } from "../people/suppressions.ts";
import type { DomainEvent } from "../webhooks/events.ts";
import type { PastPerson, StoredPastPerson } from "./rows.ts";

export type ConflictPolicy = "keep" | "replace";

export interface RowFinding {
  readonly index: number;
  readonly text: string;
}

/** Each row counts towards exactly one of the first five fields. */
export interface Outcomes {
  kept: number;
  same: number;
  changed: number;
  readonly conflicts: RowFinding[];
  readonly refused: RowFinding[];
  /** Ids from the source that another person has in this project, each with the id of the matching person here. */
  readonly aliases: (readonly [id: number, known: number])[];
  /** People without an address, created for their responses. */
  readonly nameless: number[];
  /** Previously nameless people who now have an address. */
  readonly named: number[];
  readonly events: DomainEvent[];
}

export type Imported = Omit<Outcomes, "events">;

export type Merged = "same" | "changed" | { readonly kind: "conflicts" | "refused"; readonly text: string };

const NAMES = {
  email: "email",
  phoneNumber: "phone_number",
  name: "name",
  createdAt: "created_at",
  unsubscribedAt: "unsubscribed_at",
  bouncedAt: "bounced_at",
} as const;
const COMPARED = Object.keys(NAMES) as readonly (keyof typeof NAMES)[];
const COMPLETED = ["email", "phoneNumber", "name"] as const;

/** The people of one batch. New ones are stored together, before any stored person changes. */
export class PeopleImport {
  readonly outcomes: Outcomes = {
    kept: 0,
    same: 0,
    changed: 0,
    conflicts: [],
    refused: [],
    aliases: [],
    nameless: [],
    named: [],
    events: [],
  };
  readonly #tx: Transaction;
  readonly #project: Project;
  readonly #byId = new Map<number, PersonRow>();
  readonly #byEmail = new Map<string, PersonRow>();
  readonly #byPhone = new Map<string, PersonRow>();
  #added: PersonRow[] = [];

  constructor(tx: Transaction, project: Project) {
    this.#tx = tx;
    this.#project = project;
  }

  note(index: number, merged: Merged): void {
    if (typeof merged === "string") this.outcomes[merged] += 1;
    else this.outcomes[merged.kind].push({ index, text: merged.text });
  }

  /** Runs before anyone is stored. Counts only new suppressions. */
  async suppress(rows: readonly PastPerson[]): Promise<void> {
    const emails = rows.flatMap(({ email }) => email ?? []);
    const before = await this.#tx.suppressions.ofEmails(this.#project.id, emails);
    for (const { email, unsubscribedAt, bouncedAt } of rows) {
      if (email === null) continue;
      const reason = unsubscribedAt === null ? "bounce" : "unsubscribe";
      if (before.get(email)?.some((each) => each.reason === reason) !== true) this.outcomes.kept += 1;
      await keepSuppressions(this.#tx, this.#project, { ...UNKNOWN_PERSON, email, unsubscribedAt, bouncedAt });
    }
  }

  async import(rows: readonly PastPerson[], policy: ConflictPolicy): Promise<void> {
    const { aliases, conflicts } = this.outcomes;
    for (const [index, row] of rows.entries()) {
      const found = this.find(row);
      if (found === null) {
        const { id, phoneNumber } = await this.add(row, row.unsubscribedAt ?? row.bouncedAt ?? this.#tx.now);
        if (phoneNumber === row.phoneNumber) this.outcomes.kept += 1;
        else conflicts.push({ index, text: `the phone_number of person ${id} belongs to someone else here` });
      } else if (row.id === null || row.id === found.id) this.note(index, await this.#merge(found, row, policy));
      else {
        aliases.push([row.id, found.id]);
        conflicts.push({ index, text: `person ${row.id} is person ${found.id} here, by e-mail or phone` });
        // The row isn't merged, but its suppressions still apply.
        const { lastSentAt, unsubscribedAt, bouncedAt } = row;
        const marks = { ...UNKNOWN_PERSON, id: found.id, createdAt: null, lastSentAt, unsubscribedAt, bouncedAt };
        await this.#merge(found, marks, "keep");
      }
    }
    await this.store();
  }

  /** Ids from `firstFree` on aren't in use in this project. */
  async read(rows: readonly PastPerson[], firstFree: number): Promise<void> {
    const { history } = this.#tx;
    const { id: project } = this.#project;
    const ids = rows.flatMap(({ id }) => (id === null || id >= firstFree ? [] : [id]));
    const emails = rows.flatMap(({ email }) => (email === null ? [] : [emailKey(email)]));
    const phoneNumbers = rows.flatMap(({ phoneNumber }) => phoneNumber ?? []);
    for (const person of await history.people(project, "id", ids)) this.#remember(person);
    for (const person of await history.people(project, "email_key", emails)) this.#remember(person);
    for (const person of await history.people(project, "phone_number", phoneNumbers)) this.#remember(person);
  }

  /** Finds a row's person: by id, unless that id or the row's address belongs to someone else. */
  find(row: PastPerson): PersonRow | null {
    const byId = row.id === null ? null : (this.#byId.get(row.id) ?? null);
    if (byId !== null && !isSomebodyElse(byId, row)) return byId;
    return this.#findOwner(row) ?? byId;
  }

  /** Creates a person, without a phone number that someone else has. */
  async add({ id, createdAt, answeredAt, ...row }: PastPerson, since: number): Promise<PersonRow> {
    const person = {
      ...UNKNOWN_PERSON,
      ...row,
      lastSentAt: newest(row.lastSentAt, answeredAt ?? null),
      lastRespondedAt: answeredAt ?? null,
      phoneNumber: this.#byPhone.has(row.phoneNumber ?? "") ? null : row.phoneNumber,
      id: id ?? (await this.#tx.history.newId(this.#project.id)),
      createdAt: createdAt ?? row.lastSentAt ?? since,
    };
    this.#remember(person);
    this.#added.push(person);
    return person;
  }

  /**
   * Fills in missing fields but never changes any, because imported people are more reliable than the details in
   * responses.
   */
  async complete(found: PersonRow, row: PastPerson): Promise<void> {
    if (!COMPLETED.some((field) => found[field] === null && row[field] !== null)) return;
    await this.#merge(found, row, "keep");
    if (hasNoAddress(found) && !hasNoAddress(this.#byId.get(found.id)!)) this.outcomes.named.push(found.id);
  }

  async store(): Promise<void> {
    const people = this.#added;
    if (people.length === 0) return;
    this.#added = [];
    const emails = people.flatMap(({ email }) => email ?? []);
    const suppressed = await this.#tx.suppressions.ofEmails(this.#project.id, emails);
    const marked = people.map((person): PersonRow => {
      const found = person.email === null ? undefined : suppressed.get(person.email);
      const since = (reason: string): number | null => found?.find((each) => each.reason === reason)?.at ?? null;
      return {
        ...person,
        unsubscribedAt: person.unsubscribedAt ?? since("unsubscribe"),
        bouncedAt: person.bouncedAt ?? since("bounce"),
      };
    });
    await this.#tx.history.insertPeople(this.#project.id, marked);
    for (const person of marked) {
      this.#remember(person);
      const { id, unsubscribedAt } = person;
      if (unsubscribedAt !== null) this.outcomes.events.push({ type: "unsubscribe.created", personId: id });
      await keepSuppressions(this.#tx, this.#project, person);
    }
  }

  #remember(person: PersonRow): void {
    this.#byId.set(person.id, person);
    if (person.email !== null) this.#byEmail.set(emailKey(person.email), person);
    if (person.phoneNumber !== null) this.#byPhone.set(person.phoneNumber, person);
  }

  /** By e-mail, or by phone number if the row or the person has no e-mail. */
  #findOwner({ email, phoneNumber }: PastPerson): PersonRow | null {
    const byAddress = email === null ? undefined : this.#byEmail.get(emailKey(email));
    const byNumber = phoneNumber === null ? undefined : this.#byPhone.get(phoneNumber);
    if (byAddress !== undefined || byNumber === undefined) return byAddress ?? null;
    return email === null || byNumber.email === null ? byNumber : null;
  }

  /** Stored values stay, and differences are conflicts, unless the policy is to replace. */
  async #merge({ id }: PersonRow, row: PastPerson, policy: ConflictPolicy): Promise<Merged> {
    await this.store();
    const found = this.#byId.get(id)!;
    if (isSomebodyElse(found, row))
      return { kind: "refused", text: `id ${id} belongs to another person in this project` };
    const isPlaceholder = hasNoAddress(found);
    const wanted = COMPARED.filter((field) => row[field] !== null && !isSame(field, found, row));
    const filled = wanted.filter((field) => found[field] === null || (isPlaceholder && field === "createdAt"));
    const differing = wanted.filter((field) => !filled.includes(field));
    const taken = wanted.filter((field) => this.#isTaken(field, found, row));
    const changed = [...filled, ...(policy === "replace" ? differing : [])].filter((field) => !taken.includes(field));
    const change = Object.fromEntries(changed.map((field) => [field, row[field]])) as Partial<StoredPastPerson>;
    const lastSentAt = newest(found.lastSentAt, row.lastSentAt);
    if (changed.length > 0 || lastSentAt !== found.lastSentAt) await this.#replace(found, { ...change, lastSentAt });
    const open = [...new Set([...taken, ...(policy === "replace" ? [] : differing)])];
    if (open.length === 0) return changed.length > 0 ? "changed" : "same";
    const names = open.map((field) => NAMES[field]).join(", ");
    return { kind: "conflicts", text: `person ${id} is stored with another ${names}` };
  }

  #isTaken(field: keyof typeof NAMES, found: PersonRow, { email, phoneNumber }: PastPerson): boolean {
    if (field !== "email" && field !== "phoneNumber") return false;
    const owner = field === "email" ? this.#byEmail.get(emailKey(email ?? "")) : this.#byPhone.get(phoneNumber ?? "");
    return owner !== undefined && owner.id !== found.id;
  }

  async #replace(found: PersonRow, change: Partial<StoredPastPerson>): Promise<void> {
    const tx = this.#tx;
    const project = this.#project;
    const merged = { ...found, ...change };
    const marks = change.email === undefined ? {} : await this.#marksAtAddress(found, merged);
    const left = { ...merged, ...marks };
    const hasTheirTime = left.unsubscribedAt === found.unsubscribedAt;
    const person = { ...left, unsubscribedBy: hasTheirTime ? left.unsubscribedBy : null };
    await tx.history.replacePerson(project.id, person);
    this.#remember(person);
    if (found.unsubscribedAt === null && person.unsubscribedAt !== null)
      this.outcomes.events.push({ type: "unsubscribe.created", personId: found.id });
    await keepSuppressions(tx, project, person);
    const isMarked = person.unsubscribedAt !== null || person.bouncedAt !== null;
    if (isMarked && (person.unsubscribedAt !== found.unsubscribedAt || person.bouncedAt !== found.bouncedAt))
      await tx.requests.cancel(project.id, found.id, { channel: "email", autopilot: null });
  }

  /** A previous owner of the e-mail address may have unsubscribed or bounced. */
  async #marksAtAddress(found: PersonRow, merged: PersonRow): Promise<SuppressionMarks> {
    await keepSuppressions(this.#tx, this.#project, found);
    const marks = await suppressionMarks(this.#tx, this.#project, merged);
    // A bounce of the replaced address doesn't apply to the new one.
    const isOwn = found.email === null || merged.bouncedAt !== found.bouncedAt;
    return { ...marks, bouncedAt: (isOwn ? merged.bouncedAt : null) ?? marks.bouncedAt };
  }
}

export function hasNoAddress({ email, phoneNumber }: PersonRow): boolean {
  return email === null && phoneNumber === null;
}

/** Ids are per project, so an id from the source may belong to someone created through the API. */
export function isSomebodyElse(found: PersonRow, row: PastPerson): boolean {
  const isOfOneAge = row.createdAt === null ? !isBeforeCreation(found, row) : row.createdAt === found.createdAt;
  if (isOfOneAge) return false;
  if (row.email !== null && found.email !== null) return emailKey(found.email) !== emailKey(row.email);
  return found.phoneNumber !== null && row.phoneNumber !== null && found.phoneNumber !== row.phoneNumber;
}

/** An unsubscribe or bounce can't be earlier than the person's creation. */
function isBeforeCreation({ createdAt }: PersonRow, { unsubscribedAt, bouncedAt }: PastPerson): boolean {
  return [unsubscribedAt, bouncedAt].some((at) => at !== null && at < createdAt);
}

function isSame(field: keyof typeof NAMES, found: PersonRow, row: PastPerson): boolean {
  if (field !== "email" || found.email === null || row.email === null) return found[field] === row[field];
  return emailKey(found.email) === emailKey(row.email);
}
