/** The blocks of a list as rows, and as they were last read. See `list-blocks.ts`. */
import type { Database, SqlRow, SqlValue } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";

/** Sort key of a row: a time and an id. */
export type Key = readonly [at: number, id: number];

export interface Block {
  /** No row of the block comes before it. */
  readonly first: Key;
  /** Where the next block begins; null for the last one. */
  readonly end: Key | null;
  readonly rowCount: number;
  /** Bounds of the other time of every row; they may be wider than necessary. */
  readonly leastOther: number;
  readonly mostOther: number;
}

/** Lists whose blocks are kept in memory; a million rows make about 2,000 blocks. */
const KNOWN_MAX = 64;
/** Blocks that are read again one by one; of more, the list is read again. */
const CHANGED_MAX = 64;
export const BLOCK = "project_id = ? AND list = ?";

/**
 * Blocks as they were last read: to read them all would be half of what a page far back costs. Where several
 * processes write them, none is remembered.
 */
export interface KnownBlocks {
  readonly read: (list: CountedList) => Promise<readonly Block[]>;
  /** The block that begins with this key may have other counts. */
  readonly renew: (list: CountedList, first: Key) => void;
  /** The list may have other blocks. */
  readonly forget: (list: CountedList) => void;
}

/** What a write has changed is read again after it, so a write that is rolled back leaves nothing behind. */
export function createKnownBlocks(database: Database, isShared: boolean): KnownBlocks {
  const known = new Map<string, { readonly blocks: Block[]; readonly changed: Key[] }>();
  return {
    read: async (list) => {
      if (database.writing || isShared) return readBlocks(database, list);
      const found = known.get(listName(list));
      if (found !== undefined && (await renewBlocks(database, list, found))) return found.blocks;
      const blocks = await readBlocks(database, list);
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(listName(list), { blocks, changed: [] });
      return blocks;
    },
    renew: (list, first) => {
      const changed = known.get(listName(list))?.changed ?? [];
      if (changed.length < CHANGED_MAX) {
        if (!changed.some((key) => compareKeys(key, first) === 0)) changed.push(first);
      } else known.delete(listName(list));
    },
    forget: (list) => void known.delete(listName(list)),
  };
}

/** Reads what has changed again; false when the list has to be read anew. */
async function renewBlocks(
  database: Database,
  list: CountedList,
  { blocks, changed }: { readonly blocks: Block[]; readonly changed: Key[] },
): Promise<boolean> {
  for (const first of changed.splice(0)) if (!(await renewBlock(database, list, blocks, first))) return false;
  return true;
}

/** Reads the counts of one block again; false when there is no such block. */
async function renewBlock(database: Database, list: CountedList, blocks: Block[], first: Key): Promise<boolean> {
  const at = blocks.findIndex((block) => compareKeys(block.first, first) === 0);
  const old = blocks[at];
  const row = await database.first(
    `SELECT ${BLOCK_COUNTS} FROM list_blocks WHERE ${BLOCK} AND first_at = ? AND first_id = ?`,
    [...which(list), ...first],
  );
  if (old === undefined || row === null) return false;
  blocks[at] = { ...(row as unknown as Omit<Block, "first" | "end">), first: old.first, end: old.end };
  return true;
}

const BLOCK_COUNTS = 'row_count AS "rowCount", least_other AS "leastOther", most_other AS "mostOther"';

export function listName({ project, name }: CountedList): string {
  return `${project} ${name}`;
}

export function which({ project, name }: CountedList): SqlValue[] {
  return [project, name];
}

export function compareKeys(left: Key, right: Key): number {
  return left[0] - right[0] || left[1] - right[1];
}

export function toKey(row: SqlRow | null): Key | null {
  return row === null ? null : [Number(row.first_at), Number(row.first_id)];
}

async function readBlocks(database: Database, list: CountedList): Promise<Block[]> {
  const rows = await database.all(
    `SELECT first_at, first_id, ${BLOCK_COUNTS}
     FROM list_blocks WHERE ${BLOCK} ORDER BY first_at, first_id`,
    which(list),
  );
  return rows.map((row, index) => ({
    ...(row as unknown as Omit<Block, "first" | "end">),
    first: [Number(row.first_at), Number(row.first_id)],
    end: toKey(rows[index + 1] ?? null),
  }));
}
