import type { Project } from "../domain/inputs.ts";
import { NotFoundError } from "../domain/errors.ts";
import { deletePerson } from "../domain/people.ts";
import type { Store } from "../domain/ports.ts";
import { parsePersonPath } from "./write-inputs.ts";

interface Named {
  readonly store: Store;
  readonly project: Project;
  readonly placeholders: Readonly<Record<string, string>>;
  readonly unstripped: string | null;
}

/**
 * Deletes the person that the path names. A `.json` at the end may belong to the identifier (`email:x@y.json`):
 * the whole is tried first, and only when it names nobody is the suffix a suffix.
 */
export async function deleteNamedPerson({ store, project, placeholders, unstripped }: Named): Promise<void> {
  const { person = "" } = placeholders;
  const isDone = await store.write(async (tx) => {
    if (unstripped !== null && unstripped.includes("@")) {
      try {
        return await deletePerson(tx, project, parsePersonPath(unstripped));
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
    return deletePerson(tx, project, parsePersonPath(person));
  });
  if (!isDone) await store.settle();
}
