/** A project's responses, newest first, read page by page so that other work never waits long. */
import type { Store } from "./domain/ports.ts";

const PAGE = 100;

export interface NewestChoice {
  readonly since: number;
  readonly until: number;
  readonly trendId: number | null;
}

export async function* newestResponses(
  store: Store,
  project: number,
  { since, until, trendId }: NewestChoice,
): AsyncGenerator<string> {
  const shape = { expandPerson: true, expandNotes: false, permalinkPrefix: "" };
  const all = { since, until, updatedSince: null, updatedUntil: null, personId: null, trendId, order: "desc" } as const;
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.read((tx) => tx.responses.list(project, { ...all, offset, limit: PAGE }, shape));
    yield* page;
    if (page.length < PAGE) return;
  }
}
