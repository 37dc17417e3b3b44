/** The commands about pages for colleagues, on an open store. */
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { utcDay } from "../../../runtime/zone.ts";
import type { Store } from "../../domain/ports.ts";
import type { ShareRow } from "../../domain/shares/share-rows.ts";
import { addShare, keepDays, removeShare } from "../../domain/shares/shares.ts";
import type { Handlers } from "../commands.ts";
import { readInProject, writeInProject } from "../in-project.ts";
import type { ShareCommand, ShareInfo } from "./commands.ts";

export interface ShareAdminOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The beginning of links, without a slash at the end. */
  readonly appUrl: () => string;
}

export function createShareHandlers(options: ShareAdminOptions): Pick<Handlers, ShareCommand["kind"]> {
  const { store, clock, appUrl } = options;
  return {
    "share.add": async ({ project, name, trend, segments, comments: showsComments, expiresAfter }) => {
      const { share, token } = await writeInProject(store, project, (tx, found) => {
        const expiresAt = expiresAfter === undefined ? null : tx.now + expiresAfter;
        return addShare(tx, found, { name, trend, segments, showsComments, expiresAt });
      });
      // Counted before anybody looks, so that the first look at many years of answers is as quick as a later one.
      const last = utcDay(unixSeconds(clock)) - 1;
      await keepDays(store, share, { first: null, last });
      return { ...toShareInfo(share), url: `${appUrl()}/d/${token}` };
    },
    "share.list": ({ project }) =>
      readInProject(store, project, async (tx, found) => (await tx.shares.list(found.id)).map(toShareInfo)),
    "share.remove": ({ project, id }) =>
      writeInProject(store, project, async (tx, found) => {
        const removed = await removeShare(tx, found, id);
        return { id: String(removed.id), name: removed.name };
      }),
  };
}

function toShareInfo({ id, name, trendId, segments, showsComments, createdAt, expiresAt }: ShareRow): ShareInfo {
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
