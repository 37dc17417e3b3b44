/** Anyone who has the link can see a live page; only a hash of its token is stored. */
import { createHash } from "node:crypto";
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import { alreadyExists, checkText, InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { Store, Transaction } from "../ports.ts";
import { requireTrend } from "../answers/trends.ts";
import { isSignedLink, type LinkSignature, signLink } from "../signed-links.ts";
import { type DayTally, tallyDay } from "./day-tally.ts";
import type { DayRange, ShareRow, SharedDay } from "./share-rows.ts";

const NAME_MAX = 100;
const SEGMENTS_MAX = 5;

export interface NewShare {
  readonly name: string;
  readonly trend: string | null;
  readonly segments: readonly string[];
  readonly showsComments: boolean;
  readonly expiresAt: number | null;
}

/** Also returns the token, which isn't stored in plain text. Throws InvalidError. */
export async function addShare(
  tx: Transaction,
  project: Project,
  { trend, ...wanted }: NewShare,
): Promise<{ readonly share: ShareRow; readonly token: string }> {
  const name = wanted.name.trim();
  checkText("name", name, { max: NAME_MAX });
  for (const segment of wanted.segments) checkText("segment", segment);
  if ((await tx.shares.list(project.id)).some((one) => one.name === name))
    throw alreadyExists("a page named", "name", name);
  if (wanted.segments.length > SEGMENTS_MAX)
    throw new InvalidError({ segment: [`may be given for ${SEGMENTS_MAX} properties at most`] });
  const trendId = trend === null ? null : await requireTrend(tx, project, trend);
  const token = tx.token();
  const row = { ...wanted, name, trendId, tokenHash: hashToken(token) };
  const id = await tx.shares.insert(project.id, row);
  return { share: { ...row, project, id, createdAt: tx.now }, token };
}

/** `which` is a name or, if no page has that name, an id. Throws NotFoundError. */
export async function requireShare(tx: Transaction, project: Project, which: string): Promise<ShareRow> {
  const id = parseId(which);
  const shares = await tx.shares.list(project.id);
  const found = shares.find((one) => one.name === which) ?? shares.find((one) => one.id === id);
  if (found === undefined) throw new NotFoundError(`project ${project.name} has no shared page ${which}`);
  return found;
}

/** Null if the link is wrong or has expired. */
export async function findShare(tx: Transaction, token: string, given: LinkSignature): Promise<ShareRow | null> {
  const isSigned = given.signature !== "" && (await isSignedLink(tx, signedPath(token), given));
  const share = await tx.shares.byTokenHash(isSigned ? token : hashToken(token));
  return share === null || hasEnded(tx, share) ? null : share;
}

/** A signed link to the newest page with all responses, because tokens aren't stored. Null if there is no page. */
export async function signNewestShare(tx: Transaction, project: Project, at: number): Promise<string | null> {
  const shares = await tx.shares.list(project.id);
  const newest = shares.findLast((share) => share.trendId === null && !hasEnded(tx, share));
  return newest === undefined ? null : signLink(tx, signedPath(newest.tokenHash), at);
}

function hasEnded(tx: Transaction, { expiresAt }: ShareRow): boolean {
  return expiresAt !== null && expiresAt <= tx.now;
}

function signedPath(token: string): string {
  return `/d/${token}`;
}

function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export async function tallyAnswers(
  tx: Transaction,
  share: ShareRow,
  range: { readonly since: number; readonly until: number },
): Promise<DayTally> {
  return tallyDay(await tx.shares.answers(share, range), share.segments);
}

/**
 * Maximum number of answers tallied in one transaction, unless a single day has more. Other requests can write in
 * between.
 */
const ANSWERS_A_STEP = 10_000;

export async function keepDays(store: Store, share: ShareRow, range: DayRange): Promise<void> {
  const days = await store.read((tx) => tx.shares.days(share, range));
  for (const step of splitIntoSteps(days.filter(({ tally }) => tally === null)))
    await store.write(
      async (tx) => {
        for (const day of step) {
          const since = day * DAY_SECONDS;
          const tally = await tallyAnswers(tx, share, { since, until: since + DAY_SECONDS - 1 });
          await tx.shares.keepDay(share, day, tally);
        }
      },
      { project: share.project.id },
    );
}

function splitIntoSteps(days: readonly SharedDay[]): readonly (readonly number[])[] {
  const steps: number[][] = [];
  let left = 0;
  for (const { day, rowCount } of days) {
    left -= rowCount;
    if (left < 0) {
      steps.push([]);
      left = ANSWERS_A_STEP - rowCount;
    }
    steps.at(-1)?.push(day);
  }
  return steps;
}
