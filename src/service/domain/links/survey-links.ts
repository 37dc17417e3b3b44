import { createHmac } from "node:crypto";
import { PROPERTIES_BYTES_MAX } from "../../../contract/limits.ts";
import type { Properties } from "../../../contract/resources.ts";
import { isStorableJson } from "../../../contract/text/storable.ts";
import { changeFirstAnswer, cleanAnswer, storeFirstAnswer } from "../answers/answers.ts";
import type { KeptAnswer } from "../answers/take-answer.ts";
import { checkText, InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { PublicLink, ResponseRow, Transaction } from "../ports.ts";
import { LINK_SECRET } from "../signed-links.ts";
import { checkSpecialProperties } from "../surveys/special-properties.ts";

/** Responses through the link get these properties. Throws InvalidError. */
export async function addLink(
  tx: Transaction,
  project: Project,
  name: string,
  properties: Properties,
): Promise<PublicLink> {
  checkText("name", name);
  if (!isStorableJson(properties)) throw new InvalidError({ property: ["holds values that cannot be kept"] });
  if (Buffer.byteLength(JSON.stringify(properties)) > PROPERTIES_BYTES_MAX)
    throw new InvalidError({ property: [`is too large (maximum is ${PROPERTIES_BYTES_MAX} bytes)`] });
  checkSpecialProperties(properties);
  const link = { name: name.trim(), token: tx.token(), properties };
  return { ...link, project, id: await tx.links.insert(project.id, link), createdAt: tx.now };
}

export async function findLink(tx: Transaction, project: Project, id: string): Promise<PublicLink> {
  const key = parseId(id);
  const link = (await tx.links.list(project.id)).find((one) => one.id === key);
  if (link === undefined) throw new NotFoundError(`project ${project.name} has no link ${id}`);
  return link;
}

export interface LinkVisit {
  readonly link: PublicLink;
  readonly answer: ResponseRow | null;
}

/** Null for an unknown link. `visit` is the hidden field of the visitor's page; null on the first visit. */
export async function visitLink(tx: Transaction, token: string, visit: string | null): Promise<LinkVisit | null> {
  const link = await tx.links.byToken(token);
  if (link === null) return null;
  const secret = visit === null ? null : await tx.secrets.read(LINK_SECRET);
  const known = visit === null || secret === null ? null : await tx.responses.byToken(visitToken(secret, link, visit));
  return { link, answer: known === null ? null : await tx.responses.byId(link.project.id, known.id) };
}

/** A visitor's answer belongs to a new person without an address. The same visit can change it. Throws InvalidError. */
export async function answerByLink(
  tx: Transaction,
  link: PublicLink,
  visit: string,
  given: { readonly score: number; readonly comment?: string },
  windowSeconds: number,
): Promise<KeptAnswer> {
  const { score, comment } = cleanAnswer(given);
  const { project, properties } = link;
  const token = visitToken(await tx.secrets.ensure(LINK_SECRET), link, visit);
  const known = await tx.responses.byToken(token);
  const answer = known === null ? null : await tx.responses.byId(project.id, known.id);
  if (answer !== null) return changeFirstAnswer(tx, project, answer, { score, comment }, windowSeconds);
  const { id: personId } = await tx.people.insert(project.id, { createdAt: tx.now });
  const row = { personId, requestId: null, score, comment: comment ?? null, personProperties: properties };
  return storeFirstAnswer(tx, project, { ...row, token, origin: "link" });
}

/** A MAC, so that visits can't be guessed. */
function visitToken(secret: string, { token }: PublicLink, visit: string): string {
  return createHmac("sha256", secret).update(`l/${token}/${visit}`).digest("base64url").slice(0, 22);
}
