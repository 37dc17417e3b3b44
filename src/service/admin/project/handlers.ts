/** The commands about projects and their keys, on an open store. */
import { type KeyAccess, READ_ONLY_PREFIX } from "../../../contract/key-access.ts";
import type { Random } from "../../../runtime/random.ts";
import {
  addKey,
  addProject,
  findKey,
  listKeys,
  listProjects,
  revokeKey,
  rotateKey,
} from "../../domain/projects/projects.ts";
import type { KeyRow, Store, Transaction } from "../../domain/ports.ts";
import type { Handlers } from "../commands.ts";
import { readInProject, writeInProject } from "../in-project.ts";
import type { KeyInfo, ProjectCommand, ProjectInfo } from "./commands.ts";

export interface ProjectAdminOptions {
  readonly store: Store;
  readonly random: Random;
}

/** 32 URL-safe characters, 42 of a key that only reads: short enough for every client library. */
export function createKey(random: Random, access: KeyAccess = "full"): string {
  return access === "full" ? random.token(24) : `${READ_ONLY_PREFIX}${random.token(24)}`;
}

export function createProjectHandlers(options: ProjectAdminOptions): Pick<Handlers, ProjectCommand["kind"]> {
  const { store, random } = options;
  return {
    "project.add": ({ name }) =>
      store.write(async (tx) => {
        const project = await addProject(tx, name);
        const key = createKey(random);
        await addKey(tx, project, key);
        return { id: String(project.id), name: project.name, key };
      }),
    "project.list": () => store.read(readProjects),
    "key.add": ({ project, name = null, access = "full", expiresAfter }) =>
      writeInProject(store, project, async (tx, found) => {
        const key = createKey(random, access);
        const expiresAt = endOf(tx, expiresAfter);
        return { id: String((await addKey(tx, found, key, { name, access, expiresAt })).id), name, key };
      }),
    "key.list": ({ project }) =>
      readInProject(store, project, async (tx, found) => (await listKeys(tx, found)).map(toKeyInfo)),
    "key.find": ({ project, id }) =>
      readInProject(store, project, async (tx, found) => {
        const { key, isLast } = await findKey(tx, found, id);
        return { key: toKeyInfo(key), isLast };
      }),
    "key.revoke": ({ project, id }) =>
      writeInProject(store, project, async (tx, found) => ({ id: String((await revokeKey(tx, found, id)).id) })),
    "key.rotate": ({ project, id, endsAfter, expiresAfter }) =>
      writeInProject(store, project, async (tx, found) => {
        const endsAt = endOf(tx, endsAfter);
        const { key, secretKey, previous } = await rotateKey(tx, found, id, {
          makeKey: (access) => createKey(random, access),
          endsAt,
          expiresAt: endOf(tx, expiresAfter),
        });
        return {
          id: String(key.id),
          name: key.name,
          key: secretKey,
          previous: previous.map((one) => String(one.id)),
          previous_until: endsAt,
        };
      }),
  };
}

async function readProjects(tx: Transaction): Promise<ProjectInfo[]> {
  const infos: ProjectInfo[] = [];
  for (const { id, name, createdAt, throttleSeconds } of await listProjects(tx)) {
    const { people, responses } = await tx.projects.counts(id);
    infos.push({ id: String(id), name, created_at: createdAt, throttle: throttleSeconds, people, responses });
  }
  return infos;
}

/** Unix seconds; null for never. */
function endOf({ now }: Transaction, afterSeconds: number | undefined): number | null {
  return afterSeconds === undefined ? null : now + afterSeconds;
}

function toKeyInfo({ id, name, access, lastFour, createdAt, lastUsedOn, expiresAt }: KeyRow): KeyInfo {
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
