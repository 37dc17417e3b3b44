import type { Deps } from "../../deps.ts";
import { NotFoundError } from "../../errors/not-found-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import { PEOPLE } from "../../render/resources.ts";
import { withClient } from "../with-client.ts";
import { findPerson, nameOf, type EmailOrPhone } from "./person-reference.ts";

export async function runPeopleGet(deps: Deps, { person }: { readonly person: EmailOrPhone }): Promise<ExitCode> {
  checkColumns(deps, PEOPLE);
  const found = await withClient(deps, (client) => findPerson(client, person, deps.signal));
  if (found === null) throw new NotFoundError(`no person ${nameOf(person)}`);
  await writeRecord(deps, PEOPLE, found);
  return EXIT.done;
}
