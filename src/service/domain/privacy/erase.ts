/** An erasure keeps links, its own record, and hashes of suppressed addresses. */
import { emailKey } from "../../../contract/text/email.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Properties } from "../../../contract/resources.ts";
import { replacePastResponse } from "../answers/response-changes.ts";
import type { PersonReference, Project } from "../inputs.ts";
import { recallDigests, removeDigestsTo } from "../delivery/digests.ts";
import { peoplePages } from "../people/everybody.ts";
import { findReferenced } from "../people/person-identity.ts";
import { removePerson } from "../people/person-removal.ts";
import { keepSuppressions } from "../people/suppressions.ts";
import type { PersonRow, Store, SuppressionReason, Transaction } from "../ports.ts";
import {
  ERASURE_SECRET,
  type ErasureLog,
  erasureHashes,
  type Identifiers,
  noteErasure,
  readErasureLog,
} from "./erasure-log.ts";
import { type ErasedCounts, type Mention, MENTION_KINDS } from "./erasure-rows.ts";

export type ErasedAddress = Exclude<PersonReference, { readonly by: "id" }>;

export interface ErasureOptions {
  /** Allows surveys to the address again, and disables the unsubscribe links in messages already sent to it. */
  readonly forgetUnsubscribe: boolean;
  readonly mentions: readonly Mention[];
}

export interface Erasure extends ErasedCounts {
  readonly people: number;
  readonly suppressions: number;
  readonly links: number;
}

const NOTHING: Erasure = {
  people: 0,
  responses: 0,
  surveys: 0,
  attempts: 0,
  memberships: 0,
  events: 0,
  suppressions: 0,
  links: 0,
};

export function identifiersFor(address: ErasedAddress, person: PersonRow | null): Identifiers {
  if (person !== null) return person;
  return {
    id: null,
    email: address.by === "email" ? address.email : null,
    phoneNumber: address.by === "phone_number" ? address.phoneNumber : null,
  };
}

export async function previewErasure(tx: Transaction, project: Project, address: ErasedAddress): Promise<Erasure> {
  const person = await findReferenced(tx, project, address);
  if (person === null) return NOTHING;
  return { ...NOTHING, ...(await tx.erasures.counts(project.id, person.id)), people: 1 };
}

/** An address without a person can still have a digest, or an unsubscribe to forget. */
export async function isKnown(
  tx: Transaction,
  project: Project,
  address: ErasedAddress,
  { forgetUnsubscribe }: Pick<ErasureOptions, "forgetUnsubscribe">,
): Promise<boolean> {
  const person = await findReferenced(tx, project, address);
  if (person !== null) return true;
  const identifiers = identifiersFor(address, null);
  const digests = identifiers.email === null ? [] : await tx.digests.list(project.id);
  if (digests.some(({ email }) => emailKey(email) === emailKey(identifiers.email ?? ""))) return true;
  if (!forgetUnsubscribe) return false;
  for (const [channel, known] of addressTexts(identifiers))
    if ((await tx.suppressions.list(project.id, channel, known)).length > 0) return true;
  return false;
}

/**
 * Records the erasure even if no one has the address, because an import might add the person later. See `Store.settle`.
 */
export async function erasePerson(
  tx: Transaction,
  project: Project,
  address: ErasedAddress,
  { forgetUnsubscribe, mentions }: ErasureOptions,
): Promise<Erasure> {
  const person = await findReferenced(tx, project, address);
  const identifiers = identifiersFor(address, person);
  for (const mention of mentions) await redact(tx, project, mention, searchTexts(identifiers));
  await noteErasure(tx, project, identifiers);
  await tx.erasures.setCleaning(true);
  if (identifiers.email !== null) await removeDigestsTo(tx, project, identifiers.email);
  if (identifiers.phoneNumber !== null) await tx.texts.dropParts(identifiers.phoneNumber);
  if (person !== null || mentions.length > 0) await recallDigests(tx, project);
  const counts = person === null ? NOTHING : await tx.erasures.counts(project.id, person.id);
  const links = person === null || forgetUnsubscribe ? 0 : await tx.erasures.keepLinks(project.id, person.id);
  if (person !== null) {
    await keepSuppressions(tx, project, forgetUnsubscribe ? { ...person, unsubscribedAt: null } : person);
    await removePerson(tx, project.id, person.id);
  }
  let suppressions = 0;
  for (const [channel, known] of addressTexts(identifiers)) {
    if (forgetUnsubscribe) await forget(tx, project, channel, known);
    suppressions += (await tx.suppressions.list(project.id, channel, known)).length;
  }
  return { ...NOTHING, ...counts, people: person === null ? 0 : 1, suppressions, links };
}

function addressTexts({ email, phoneNumber }: Identifiers): (readonly [Channel, string])[] {
  const addresses = [["email", email] as const, ["sms", phoneNumber] as const];
  return addresses.flatMap(([channel, address]) => (address === null ? [] : [[channel, address] as const]));
}

/** A bounce is a fact about an address, not its owner's choice. */
const WISHES: readonly SuppressionReason[] = ["unsubscribe", "complaint", "stop"];

async function forget(tx: Transaction, project: Project, channel: Channel, address: string): Promise<void> {
  for (const reason of WISHES) await tx.suppressions.remove(project.id, channel, address, reason);
  await tx.erasures.forgetLinks(project.id, await tx.suppressions.hash(channel, address));
}

function searchTexts({ email, phoneNumber }: Identifiers): string[] {
  return [email, phoneNumber].flatMap((text) => text ?? []);
}

/** True if nothing is left of an erased person, after `Store.settle`. */
export async function isErased(tx: Transaction, project: Project, personId: number): Promise<boolean> {
  const counts = await tx.erasures.counts(project.id, personId);
  return (await tx.people.byId(project.id, personId)) === null && Object.values(counts).every((count) => count === 0);
}

export async function findMentions(store: Store, project: Project, identifiers: Identifiers): Promise<Mention[]> {
  const byRow = new Map<string, Mention>();
  for (const text of searchTexts(identifiers))
    for (const kind of MENTION_KINDS)
      for (let after: number | null = 0; after !== null;) {
        const page: { readonly text: string; readonly after: number } = { text, after };
        const { found, next } = await store.read((tx) => tx.erasures.mentions(project.id, kind, page));
        for (const mention of found.filter(({ personId }) => personId !== identifiers.id))
          byRow.set(`${mention.kind} ${mention.id} ${mention.platform}`, mention);
        after = next;
      }
  return [...byRow.values()];
}

const ERASED = "[erased]";

async function redact(
  tx: Transaction,
  project: Project,
  { kind, id, personId, platform, text }: Mention,
  texts: readonly string[],
): Promise<void> {
  // Addresses look the same in JSON, because none of their characters need escaping.
  const clear = (given: string): string => texts.reduce((left, one) => replaceText(left, one, ERASED), given);
  const properties = (): Properties => JSON.parse(clear(text ?? "{}")) as Properties;
  switch (kind) {
    case "people":
      return redactPerson(tx, project, id, clear);
    case "resubscriptions":
      for (const { at, note } of await tx.people.resubscriptions(project.id, id))
        await tx.people.noteResubscription(project.id, id, { at, note: clear(note) });
      return;
    case "surveys":
      return tx.requests.setProperties(project.id, id, properties());
    case "members":
      return tx.autopilot.setMemberProperties(project.id, platform ?? "email", personId, properties());
    case "events":
      return tx.erasures.deleteEvent(project.id, id);
    default:
      for (const row of await tx.history.responses(project.id, [id]))
        await replacePastResponse(tx, project.id, {
          ...row,
          comment: row.comment === null ? null : clear(row.comment),
          properties: clear(row.properties),
          notes: clear(row.notes),
          tags: clear(row.tags),
          additionalAnswers: clear(row.additionalAnswers),
          updatedAt: tx.updatedAt,
        });
  }
}

async function redactPerson(
  tx: Transaction,
  project: Project,
  id: number,
  clear: (text: string) => string,
): Promise<void> {
  const person = await tx.people.byId(project.id, id);
  if (person === null) return;
  const [name, properties] = [person.name, person.properties].map((text) => (text === null ? null : clear(text)));
  await tx.people.update(project.id, id, { name: name ?? null, properties: properties ?? null });
}

const NOBODY: Identifiers = { id: null, email: null, phoneNumber: null };

/** Projects are matched by name. People who were added after their erasure stay. Returns how many were erased. */
export async function applyErasureLog(store: Store, log: ErasureLog): Promise<number> {
  await store.write(
    async (tx) => {
      const own = await readErasureLog(tx);
      if (own.projects.every((project) => project.entries.length === 0)) await tx.erasures.adoptSecret(log.secret);
    },
    { project: "all" },
  );
  let erased = 0;
  for (const { name, entries } of log.projects) {
    const project = entries.length === 0 ? null : await store.read((tx) => tx.projects.byName(name));
    if (project === null) continue;
    const times = new Map(entries.map(({ hash, at }) => [hash, at]));
    const erasedAt = (identifiers: Partial<Identifiers>): number =>
      Math.max(-1, ...erasureHashes(log.secret, { ...NOBODY, ...identifiers }).map((hash) => times.get(hash) ?? -1));
    // Ids aren't reused, but an address may belong to a new person who was created in the same second as the erasure.
    const isGone = ({ id, ...addresses }: Identifiers, since: number): boolean =>
      erasedAt({ id }) >= since || erasedAt(addresses) > since;
    await store.write((tx) => eraseDigests(tx, project, isGone), { project: project.id });
    for await (const people of peoplePages(store, project)) {
      const gone = people.filter((person) => isGone(person, person.createdAt));
      for (const person of gone) await store.write((tx) => eraseAgain(tx, project, person), { project: project.id });
      if (gone.length > 0) await store.write((tx) => recallDigests(tx, project), { project: project.id });
      erased += gone.length;
    }
    // The other store's hashes are useless here unless both have the same secret.
    await store.write(
      async (tx) => {
        if ((await tx.secrets.read(ERASURE_SECRET)) !== log.secret) return;
        for (const entry of entries) await tx.erasures.note(project.id, entry);
      },
      { project: project.id },
    );
  }
  await store.settle();
  return erased;
}

/** Digests can go to addresses that don't belong to a person of the project. */
async function eraseDigests(
  tx: Transaction,
  project: Project,
  isGone: (identifiers: Identifiers, since: number) => boolean,
): Promise<void> {
  for (const { id, email, createdAt } of await tx.digests.list(project.id)) {
    if (!isGone({ id: null, email, phoneNumber: null }, createdAt)) continue;
    await tx.digests.delete(project.id, id);
    await tx.erasures.setCleaning(true);
  }
}

/** Cleans up after an erasure whose process was killed, or during which another program was reading the log. */
export async function finishErasure(store: Store, sweepMessages: () => Promise<unknown>): Promise<void> {
  if (!(await store.read((tx) => tx.erasures.isCleaning()))) return;
  await store.settle();
  await sweepMessages();
  await store.clean();
  await store.write((tx) => tx.erasures.setCleaning(false), { project: "none" });
}

async function eraseAgain(tx: Transaction, project: Project, person: PersonRow): Promise<void> {
  await tx.erasures.keepLinks(project.id, person.id);
  await keepSuppressions(tx, project, person);
  await noteErasure(tx, project, person);
  await removePerson(tx, project.id, person.id);
  await tx.erasures.setCleaning(true);
}

/** Ignores case. */
export function replaceText(text: string, part: string, by: string): string {
  if (part === "") return text;
  const pattern = new RegExp(part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  return text.replaceAll(pattern, () => by);
}
