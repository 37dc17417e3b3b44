import type { Person } from "../../../contract/resources.ts";
import type { Project } from "../inputs.ts";
import type { PersonRow, Position, Store } from "../ports.ts";

const PAGE = 500;

/** Yields people by creation. Each page is a separate read: people added or deleted in between may be missed. */
export async function* peoplePages(store: Pick<Store, "read">, project: Project): AsyncGenerator<readonly PersonRow[]> {
  for (let after: Position | null = null; ;) {
    const page: readonly PersonRow[] = await readPage(store, project, after);
    yield page;
    const last: PersonRow | undefined = page.at(-1);
    if (page.length < PAGE || last === undefined) return;
    after = { createdAt: last.createdAt, id: last.id };
  }
}

function readPage(store: Pick<Store, "read">, project: Project, after: Position | null): Promise<readonly PersonRow[]> {
  return store.read(async (tx) => {
    const listed = await tx.people.list(project.id, { since: null, until: null, after, limit: PAGE });
    const ids = listed.map((json) => Number((JSON.parse(json) as Person).id));
    const people = await tx.history.people(project.id, "id", ids);
    return people.toSorted((one, other) => one.createdAt - other.createdAt || one.id - other.id);
  });
}
