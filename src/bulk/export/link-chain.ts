import type { CursorList, FetchedPage } from "./lists.ts";

/** Follows the links of one walk. A link that it followed before is a fault: the list would never end. */
export function createLinkChain(list: CursorList): (next: string, signal: AbortSignal) => Promise<FetchedPage> {
  const followed = new Set<string>();
  return (next, signal) => {
    if (followed.has(next)) throw list.fault("the list's links lead in a circle", next);
    followed.add(next);
    return list.follow(next, signal);
  };
}
