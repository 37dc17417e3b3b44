/** The commands about projects and their keys, on an open store. */
import type { Random } from "../../runtime/random.ts";
import { addKey, addProject, listKeys, listProjects, revokeKey, rotateKey } from "../domain/projects/projects.ts";
import type { KeyRow, Store, Transaction } from "../domain/ports.ts";
import type { Handlers, KeyInfo, ProjectInfo } from "./commands.ts";
import { readInProject, writeInProject } from "./delivery-admin.ts";

export interface ProjectAdminOptions {
  readonly store: Store;
  readonly random: Random;
  /** Keys that were looked up no longer count. */
  readonly onRevoke: () => void;
}

type ProjectKind = "project.add" | "project.list" | "key.add" | "key.list" | "key.revoke" | "key.rotate";

/** 32 URL-safe characters: short enough for every client library. */
export function createKey(random: Random): string {
  return random.token(24);
}

export function createProjectHandlers(options: ProjectAdminOptions): Pick<Handlers, ProjectKind> {
  const { store, random, onRevoke } = options;
  return {
    "project.add": ({ name }) =>
      store.write(async (tx) => {
        const project = await addProject(tx, name);
        const key = createKey(random);
        await addKey(tx, project, key);
        return { id: String(project.id), name: project.name, key };
      }),
    "project.list": () => store.read(readProjects),
    "key.add": ({ project, name = null }) =>
      writeInProject(store, project, async (tx, found) => {
        const key = createKey(random);
        return { id: String((await addKey(tx, found, key, name)).id), name, key };
      }),
    "key.list": ({ project }) =>
      readInProject(store, project, async (tx, found) => (await listKeys(tx, found)).map(toKeyInfo)),
    "key.revoke": async ({ project, id }) => {
      const revoked = await writeInProject(store, project, (tx, found) => revokeKey(tx, found, id));
      onRevoke();
      return { id: String(revoked.id) };
    },
    "key.rotate": async ({ project, id, endsAfter = null }) => {
      const secretKey = createKey(random);
      const rotated = await writeInProject(store, project, async (tx, found) => {
        const endsAt = endsAfter === null ? null : tx.now + endsAfter;
        const { key, previous } = await rotateKey(tx, found, id, { secretKey, endsAt });
        return {
          id: String(key.id),
          name: key.name,
          previous: previous.map((one) => String(one.id)),
          previous_until: endsAt,
        };
      });
      onRevoke();
      return { ...rotated, key: secretKey };
    },
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

function toKeyInfo({ id, name, lastFour, createdAt, expiresAt }: KeyRow): KeyInfo {
  return { id: String(id), name, last_four: lastFour, created_at: createdAt, expires_at: expiresAt };
}
