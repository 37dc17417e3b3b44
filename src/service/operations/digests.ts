import * as v from "valibot";
import { WEEKDAYS } from "../domain/windows/windows.ts";
import {
  addDigest,
  digestNow,
  digestZone,
  formatMinute,
  readMinute,
  removeDigest,
  sampleDigest,
} from "../domain/delivery/digests.ts";
import type { DigestRow, Transaction } from "../domain/ports.ts";
import { shownTarget } from "../domain/webhooks/digest-targets.ts";
import { fromText, typed } from "./define/fields.ts";
import { defineOperation, orNull } from "./define/operation.ts";

const NOBODY = "you@example.com";

/** Minutes since midnight. */
const timeOfDay = typed<number>(fromText(readMinute), "a time of day, as in 08:00");

export const digestOperations = {
  /** If the address or Slack URL already has a digest, changes its schedule. */
  "digest.add": defineOperation({
    access: "write",
    input: {
      /** An address or a Slack URL. */
      target: v.string(),
      every: v.picklist(WEEKDAYS),
      at: v.optional(timeOfDay, "08:00"),
      /** Null uses the project's time zone. */
      tz: orNull(v.string()),
      allow_private: v.optional(v.boolean(), false),
    },
    run: async (tx, project, { target, allow_private: allowPrivate, every, at: minute, tz: zone }) => {
      const schedule = { weekday: WEEKDAYS.indexOf(every), minute, zone, allowPrivate };
      return toDigestInfo(tx, await addDigest(tx, project, target, schedule));
    },
  }),
  "digest.list": defineOperation({
    access: "read",
    run: async (tx, project) => {
      const infos = [];
      for (const digest of await tx.digests.list(project.id)) infos.push(await toDigestInfo(tx, digest));
      return infos;
    },
  }),
  "digest.preview": defineOperation({
    access: "read",
    run: (tx, project) => sampleDigest(tx, project, NOBODY),
    after: ({ renderDigest }, due) => renderDigest(due),
  }),
  /** `id` is a digest's id, an address or a Slack URL. */
  "digest.test": defineOperation({
    access: "read",
    input: { id: v.string() },
    run: (tx, project, { id }) => digestNow(tx, project, id),
    after: ({ sendDigest }, due) => sendDigest(due),
  }),
  "digest.remove": defineOperation({
    access: "write",
    input: { id: v.string() },
    run: async (tx, project, { id }) => {
      const removed = await removeDigest(tx, project, id);
      return { id: String(removed.id), target: shownTarget(removed.email) };
    },
  }),
};

async function toDigestInfo(tx: Transaction, digest: DigestRow) {
  const { id, email, weekday, minute, unsubscribedAt, state, dueAt, sentAt, reason, createdAt } = digest;
  return {
    id: String(id),
    target: shownTarget(email),
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
