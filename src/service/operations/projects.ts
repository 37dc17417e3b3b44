import * as v from "valibot";
import { type KeyAccess, READ_ONLY_PREFIX } from "../../contract/key-access.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import type { Random } from "../../runtime/random.ts";
import { InvalidError } from "../domain/errors.ts";
import type { KeyRow, Transaction } from "../domain/ports.ts";
import { countRemoved, findRemovable, NOTHING_LEFT, removeProject } from "../domain/projects/project-removal.ts";
import {
  addKey,
  addProject,
  findKey,
  renameProject,
  requireProject,
  revokeKey,
  rotateKey,
} from "../domain/projects/projects.ts";
import { lifetime } from "./define/fields.ts";
import { defineOperation, type OperationTools, orNull } from "./define/operation.ts";

/** 32 URL-safe characters, or 42 for a read-only key; short enough for every client library. */
export function createKey(random: Random, access: KeyAccess = "full"): string {
  return `${access === "read-only" ? READ_ONLY_PREFIX : ""}${random.token(24)}`;
}

export const projectOperations = {
  "project.add": defineOperation({
    scope: "server",
    access: "write",
    locks: "all",
    input: { name: v.string() },
    run: async (tx, _, { name }, { random }) => {
      const project = await addProject(tx, name);
      const key = createKey(random);
      await addKey(tx, project, key);
      return { id: String(project.id), name: project.name, key };
    },
    noted: ({ id, name }) => ({ of: { id: Number(id), name } }),
    after: withAddress,
  }),
  "project.rename": defineOperation({
    scope: "server",
    access: "write",
    locks: "all",
    input: { id: v.string(), name: v.string() },
    run: async (tx, _, { id: old, name }) => {
      const { id } = await requireProject(tx, old);
      return { id: String(id), name: await renameProject(tx, { id }, name), previous: old };
    },
    noted: ({ id, previous }) => ({ of: { id: Number(id), name: previous } }),
  }),
  /** Also finishes an earlier removal that was interrupted. */
  "project.remove": defineOperation({
    scope: "server",
    access: "write",
    locks: "all",
    input: { id: v.string() },
    confirm: async (tx, _, { id: name }) => {
      const { project, isRemoved } = await findRemovable(tx, name);
      if (isRemoved) return null;
      const counts = await countRemoved(tx, project);
      const { people, responses, keys, surveys } = counts;
      const words = [
        countOf(people, "person", "people"),
        countOf(responses, "response"),
        countOf(keys, "key"),
        countOf(surveys, "pending survey"),
      ].join(", ");
      return { question: `Remove project ${name} with ${words}? This can't be undone.`, name, ...counts };
    },
    run: async (tx, _, { id: name }) => {
      const { project, isRemoved } = await findRemovable(tx, name);
      const counts = isRemoved ? NOTHING_LEFT : await countRemoved(tx, project);
      if (!isRemoved) await removeProject(tx, project);
      return { id: String(project.id), name, ...counts };
    },
    noted: ({ id, name }) => ({ of: { id: Number(id), name } }),
    after: async ({ store, sweepMessages }, done) => {
      await store.settle();
      await sweepMessages();
      return done;
    },
  }),
  "project.list": defineOperation({
    scope: "server",
    access: "read",
    run: async (tx) => {
      const infos = [];
      for (const { id, name, createdAt, throttleSeconds } of await tx.projects.list()) {
        const { people, responses } = await tx.projects.counts(id);
        infos.push({ id: String(id), name, created_at: createdAt, throttle: throttleSeconds, people, responses });
      }
      return infos;
    },
  }),
  "key.add": defineOperation({
    access: "write",
    input: {
      name: orNull(v.string()),
      read_only: v.optional(v.boolean(), false),
      admin: v.optional(v.boolean(), false),
      expires: orNull(lifetime),
    },
    run: async (tx, project, { name, read_only: readOnly, admin, expires }, { random }) => {
      if (readOnly && admin) throw new InvalidError({ admin: ["cannot be used together with read_only"] });
      const access = readOnly ? "read-only" : admin ? "admin" : "full";
      const key = createKey(random, access);
      const added = await addKey(tx, project, key, { name, access, expiresAt: expiryAfter(tx, expires) });
      return { id: String(added.id), name: added.name, key };
    },
    after: withAddress,
  }),
  "key.list": defineOperation({
    access: "read",
    run: async (tx, project) => (await tx.projects.listKeys(project.id)).map(toKeyInfo),
  }),
  "key.revoke": defineOperation({
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const { key, isLast } = await findKey(tx, project, id);
      const question = `Revoke key ${key.id} "${key.name}" (…${key.lastFour}) of project ${project.name}?`;
      const last = " It is the project's last key: nothing can call the API without one.";
      return {
        question: `${question}${isLast ? last : ""}`,
        id: String(key.id),
        name: key.name,
        last_four: key.lastFour,
      };
    },
    run: async (tx, project, { id }) => ({ id: String((await revokeKey(tx, project, id)).id) }),
  }),
  /** Finds the key by id or name. The previous keys stay valid unless `revoke_after` ends them. */
  "key.rotate": defineOperation({
    access: "write",
    input: { id: v.string(), revoke_after: orNull(lifetime), expires: orNull(lifetime) },
    run: async (tx, project, { id, revoke_after: revokeAfter, expires }, { random }) => {
      const endsAt = expiryAfter(tx, revokeAfter);
      const { key, secretKey, previous } = await rotateKey(tx, project, id, {
        makeKey: (access) => createKey(random, access),
        endsAt,
        expiresAt: expiryAfter(tx, expires),
      });
      return {
        id: String(key.id),
        name: key.name,
        key: secretKey,
        previous: previous.map((one) => String(one.id)),
        previous_until: endsAt,
        previous_last_four: previous.map((one) => one.lastFour),
      };
    },
    after: withAddress,
  }),
};

async function withAddress<Added>({ appUrl }: Pick<OperationTools, "appUrl">, added: Added) {
  return { ...added, base_url: appUrl() };
}

function expiryAfter({ now }: Transaction, afterSeconds: number | null): number | null {
  return afterSeconds === null ? null : now + afterSeconds;
}

function toKeyInfo({ id, name, access, lastFour, createdAt, lastUsedOn, expiresAt }: KeyRow) {
  return {
    id: String(id),
    name,
    access,
    last_four: lastFour,
    created_at: createdAt,
    last_used_on: lastUsedOn,
    expires_at: expiresAt,
  };
}
