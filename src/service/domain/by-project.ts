/** Splits writes by project, because writes to different projects don't wait for each other. */

export function groupByProject<Item>(
  items: readonly Item[],
  projectOf: (item: Item) => number,
): ReadonlyMap<number, readonly Item[]> {
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    const project = projectOf(item);
    const group = groups.get(project) ?? [];
    group.push(item);
    groups.set(project, group);
  }
  return groups;
}

/** Waits for all promises to settle, then rejects with the first error, if any. */
export async function allOrFirstError<Result>(running: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}
