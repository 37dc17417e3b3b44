/** Collects a write's changes of counts until its end: made one by one, each would be a question to the database. */
import type { CountedList } from "./counted-lists.ts";
import type { Entry, ListBlocks } from "./list-blocks.ts";

interface Pending {
  readonly list: CountedList;
  readonly added: Entry[];
  readonly removed: Entry[];
}

export interface DeferredBlocks extends ListBlocks {
  /** Makes the collected changes. Counts that are read earlier include them, too. */
  flush(): Promise<void>;
  /** What is still to be counted, to be given to `restore` when a job of the write is undone. */
  mark(): ReadonlyMap<string, Pending>;
  restore(mark: ReadonlyMap<string, Pending>): void;
}

export function createDeferredBlocks(blocks: ListBlocks): DeferredBlocks {
  let pending = new Map<string, Pending>();
  const note = (list: CountedList, added: readonly Entry[], removed: readonly Entry[]): void => {
    const name = `${list.project} ${list.name}`;
    const known = pending.get(name) ?? { list, added: [], removed: [] };
    known.added.push(...added);
    known.removed.push(...removed);
    pending.set(name, known);
  };
  const flush = async (): Promise<void> => {
    const all = [...pending.values()];
    pending = new Map();
    for (const { list, added, removed } of all) {
      if (removed.length > 0) await blocks.remove(list, ...removed);
      if (added.length > 0) await blocks.add(list, ...added);
    }
  };
  return {
    max: blocks.max,
    forget: () => {
      pending = new Map();
      blocks.forget();
    },
    add: async (list, ...entries) => note(list, entries, []),
    remove: async (list, ...entries) => note(list, [], entries),
    drop: (list) => {
      pending.delete(`${list.project} ${list.name}`);
      blocks.drop(list);
    },
    read: async (list) => {
      await flush();
      return blocks.read(list);
    },
    count: async (list, range) => {
      await flush();
      return blocks.count(list, range);
    },
    countScores: async (list, range) => {
      await flush();
      return blocks.countScores(list, range);
    },
    flush,
    mark: () => copy(pending),
    restore: (mark) => {
      pending = copy(mark);
    },
  };
}

function copy(pending: ReadonlyMap<string, Pending>): Map<string, Pending> {
  return new Map(
    [...pending].map(([name, { list, added, removed }]) => [name, { list, added: [...added], removed: [...removed] }]),
  );
}
