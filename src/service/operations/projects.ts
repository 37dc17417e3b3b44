import * as v from "valibot";
import { type KeyAccess, READ_ONLY_PREFIX } from "../../contract/key-access.ts";
import type { Random } from "../../runtime/random.ts";
import type { KeyRow, Transaction } from "../domain/ports.ts";
import {
  addKey,
  addProject,
  findKey,
  listKeys,
  listProjects,
  revokeKey,
  rotateKey,
} from "../domain/projects/projects.ts";
import { defineOperation, orNull } from "./operation.ts";

/** 32 URL-safe characters, 42 for a read-only key: short enough for every client library. */
export function createKey(random: Random, access: KeyAccess = "full"): string {
  return access === "full" ? random.token(24) : `${READ_ONLY_PREFIX}${random.token(24)}`;
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
  }),
  "project.list": defineOperation({
    scope: "server",
    access: "read",
    input: {},
    run: async (tx) => {
      const infos = [];
      for (const { id, name, createdAt, throttleSeconds } of await listProjects(tx)) {
        const { people, responses } = await tx.projects.counts(id);
        infos.push({ id: String(id), name, created_at: createdAt, throttle: throttleSeconds, people, responses });
      }
      return infos;
    },
  }),
  "key.add": defineOperation({
    scope: "project",
    access: "write",
    input: { name: orNull(v.string()), read_only: v.optional(v.boolean(), false), expires: orNull(v.number()) },
    run: async (tx, project, { name, read_only: readOnly, expires }, { random }) => {
      const access = readOnly ? "read-only" : "full";
      const key = createKey(random, access);
      const { id } = await addKey(tx, project, key, { name, access, expiresAt: expiryAfter(tx, expires) });
      return { id: String(id), name, key };
    },
  }),
  "key.list": defineOperation({
    scope: "project",
    access: "read",
    input: {},
    run: async (tx, project) => (await listKeys(tx, project)).map(toKeyInfo),
  }),
  /** Finds the key to revoke, by id or name. `isLast` means no other key opens the project. */
  "key.find": defineOperation({
    scope: "project",
    access: "read",
    input: { id: v.string() },
    run: async (tx, project, { id }) => {
      const { key, isLast } = await findKey(tx, project, id);
      return { key: toKeyInfo(key), isLast };
    },
  }),
  "key.revoke": defineOperation({
    scope: "project",
    access: "write",
    input: { id: v.string() },
    run: async (tx, project, { id }) => ({ id: String((await revokeKey(tx, project, id)).id) }),
  }),
  /** By id or name. The previous keys stay valid unless `revoke_after` ends them. */
  "key.rotate": defineOperation({
    scope: "project",
    access: "write",
    input: { id: v.string(), revoke_after: orNull(v.number()), expires: orNull(v.number()) },
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
      };
    },
  }),
};

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
