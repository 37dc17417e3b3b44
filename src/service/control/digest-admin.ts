/** The commands about digests, on an open store. */
import { checkDigestTarget, shownTarget } from "../domain/webhooks/digest-targets.ts";
import { addDigest, digestZone, removeDigest, sampleDigest } from "../domain/delivery/digests.ts";
import { WEEKDAYS } from "../domain/delivery/digest-rows.ts";
import type { DigestRow, DueDigest, Store, Transaction } from "../domain/ports.ts";
import { AdminError, type Handlers } from "./commands.ts";
import { requireProject, writeInProject } from "./delivery-admin.ts";
import type { DigestCommand, DigestInfo, DigestTest, PreviewInfo } from "./digest-commands.ts";

export interface DigestAdminOptions {
  readonly store: Store;
  /** Messages may be due now. */
  readonly onSchedule: () => void;
  readonly renderDigest: (due: DueDigest) => Promise<PreviewInfo>;
  /** Posts it to the Slack URL that is its target. */
  readonly postDigest: (due: DueDigest) => Promise<Pick<DigestTest, "status" | "text">>;
}

export function createDigestHandlers(options: DigestAdminOptions): Pick<Handlers, DigestCommand["kind"]> {
  const { store, onSchedule, renderDigest, postDigest } = options;
  const sample = (project: string, target: string): Promise<DueDigest> =>
    store.read(async (tx) => sampleDigest(tx, await requireProject(tx, project), target));
  return {
    "digest.preview": async ({ project }) => renderDigest(await sample(project, NOBODY)),
    "digest.test": async ({ project, url }) => {
      checkDigestTarget(url);
      const { status, text } = await postDigest(await sample(project, url));
      if (status === null || status < 200 || status > 299)
        throw new AdminError(`${shownTarget(url)} did not take it: ${[status ?? [], text].flat().join(" ")}`);
      return { to: shownTarget(url), status, text };
    },
    "digest.add": async ({ project, email, ...schedule }) => {
      const added = await writeInProject(store, project, async (tx, found) =>
        toDigestInfo(tx, await addDigest(tx, found, email, schedule)),
      );
      onSchedule();
      return added;
    },
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
  const [hour, rest] = [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0"));
  return {
    id: String(id),
    email: shownTarget(email),
    every: WEEKDAYS[weekday] ?? "",
    at: `${hour}:${rest}`,
    tz: await digestZone(tx, digest),
    state: unsubscribedAt === null ? state : "unsubscribed",
    next_at: unsubscribedAt === null ? dueAt : null,
    last_sent_at: sentAt,
    reason,
    created_at: createdAt,
  };
}
