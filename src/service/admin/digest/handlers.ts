/** The commands about digests, on an open store. */
import { shownTarget } from "../../domain/webhooks/digest-targets.ts";
import {
  addDigest,
  digestNow,
  digestZone,
  formatMinute,
  removeDigest,
  sampleDigest,
} from "../../domain/delivery/digests.ts";
import { WEEKDAYS } from "../../domain/delivery/digest-rows.ts";
import type { DigestRow, DueDigest, Store, Transaction } from "../../domain/ports.ts";
import type { Handlers } from "../commands.ts";
import { readInProject, requireProject, writeInProject } from "../in-project.ts";
import type { DigestCommand, DigestInfo, DigestTest, PreviewInfo } from "./commands.ts";

export interface DigestAdminOptions {
  readonly store: Store;
  readonly renderDigest: (due: DueDigest) => Promise<PreviewInfo>;
  /** Sends it once. Throws AdminError when it was not taken. */
  readonly sendDigest: (due: DueDigest) => Promise<DigestTest>;
}

export function createDigestHandlers(options: DigestAdminOptions): Pick<Handlers, DigestCommand["kind"]> {
  const { store, renderDigest, sendDigest } = options;
  return {
    "digest.preview": async ({ project }) =>
      renderDigest(await readInProject(store, project, (tx, found) => sampleDigest(tx, found, NOBODY))),
    "digest.test": async ({ project, digest }) =>
      sendDigest(await readInProject(store, project, (tx, found) => digestNow(tx, found, digest))),
    "digest.add": ({ project, email, ...schedule }) =>
      writeInProject(store, project, async (tx, found) =>
        toDigestInfo(tx, await addDigest(tx, found, email, schedule)),
      ),
    "digest.list": ({ project }) =>
      store.read(async (tx) => {
        const infos: DigestInfo[] = [];
        const { id } = await requireProject(tx, project);
        for (const digest of await tx.digests.list(id)) infos.push(await toDigestInfo(tx, digest));
        return infos;
      }),
    "digest.remove": ({ project, digest }) =>
      writeInProject(store, project, async (tx, found) => {
        const { id, email } = await removeDigest(tx, found, digest);
        return { id: String(id), email: shownTarget(email) };
      }),
  };
}

/** The address in a preview, which is not sent. */
const NOBODY = "you@example.com";

async function toDigestInfo(tx: Transaction, digest: DigestRow): Promise<DigestInfo> {
  const { id, email, weekday, minute, unsubscribedAt, state, dueAt, sentAt, reason, createdAt } = digest;
  return {
    id: String(id),
    email: shownTarget(email),
    every: WEEKDAYS[weekday] ?? "",
    at: formatMinute(minute),
    tz: await digestZone(tx, digest),
    state: unsubscribedAt === null ? state : "unsubscribed",
    next_at: unsubscribedAt === null ? dueAt : null,
    last_sent_at: sentAt,
    reason,
    created_at: createdAt,
  };
}
