import * as v from "valibot";
import { unixSeconds } from "../../runtime/clock.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { addShare, keepDays, requireShare } from "../domain/shares/shares.ts";
import { lifetime, names } from "./define/fields.ts";
import { defineOperation, orNull } from "./define/operation.ts";

export const shareOperations = {
  "share.add": defineOperation({
    access: "write",
    input: {
      name: v.string(),
      trend: orNull(v.string()),
      segment: v.optional(names, []),
      comments: v.optional(v.boolean(), true),
      expires: orNull(lifetime),
    },
    run: (tx, project, { comments: showsComments, expires, segment: segments, ...given }) =>
      addShare(tx, project, {
        ...given,
        segments: [...new Set(segments)],
        showsComments,
        expiresAt: expires === null ? null : tx.now + expires,
      }),
    noted: ({ share }) => ({ id: String(share.id) }),
    after: async ({ store, clock, appUrl }, { share, token }) => {
      // Counts past days now, so that the first visit is fast even after many years of answers.
      await keepDays(store, share, { first: null, last: utcDay(unixSeconds(clock)) - 1 });
      const url = `${appUrl()}/d/${token}`;
      return { ...toShareInfo(share), url, json_url: `${url}.json`, csv_url: `${url}.csv` };
    },
  }),
  "share.list": defineOperation({
    access: "read",
    run: async (tx, project) => (await tx.shares.list(project.id)).map(toShareInfo),
  }),
  "share.remove": defineOperation({
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const { id: key, name } = await requireShare(tx, project, id);
      return { question: `Remove the page "${name}"? Its link ends for everybody who has it.`, id: String(key), name };
    },
    run: async (tx, project, { id }) => {
      const { id: key, name } = await requireShare(tx, project, id);
      await tx.shares.delete(project.id, key);
      return { id: String(key), name };
    },
  }),
};

function toShareInfo({ id, name, trendId, segments, showsComments, createdAt, expiresAt }: ShareRow) {
  return {
    id: String(id),
    name,
    trend: trendId === null ? null : String(trendId),
    segments,
    comments: showsComments,
    created_at: createdAt,
    expires_at: expiresAt,
  };
}
