import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import { NotFoundError } from "../../errors/not-found-error.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import { writeDryRun } from "../dry-run.ts";
import { findPerson } from "../people/person-reference.ts";
import { withClient } from "../with-client.ts";
import { showOutcome } from "../write-outcome.ts";

export interface ResponsesAddOptions {
  /** Exactly one of the two. */
  readonly personId: string | null;
  readonly personEmail: string | null;
  /** 0 to 10. */
  readonly score: number;
  readonly comment: string | null;
  readonly properties: readonly (readonly [string, string])[];
  /** Unix seconds. */
  readonly createdAt: number | null;
}

export async function runResponsesAdd(deps: Deps, options: ResponsesAddOptions): Promise<ExitCode> {
  if ((options.personId === null) === (options.personEmail === null)) {
    throw new UsageError("exactly one of --person-id and --person-email is needed");
  }
  checkColumns(deps, RESPONSES);
  return withClient(deps, async (client) => {
    const person = options.personId ?? (await findPersonId(client, options.personEmail ?? "", deps.signal));
    const body = toResponseBody(person, options);
    if (deps.options.dryRun) {
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.addResponse, body });
      return EXIT.done;
    }
    const result = await client.addResponse(body, { signal: deps.signal });
    const evidence = `look with "surveyctl responses list --person-id ${person}" before trying again: a repeat would count twice`;
    return showOutcome(deps, result, { answer: RESPONSES, found: RESPONSES, evidence });
  });
}

async function findPersonId(client: Client, email: string, signal: AbortSignal): Promise<string> {
  const found = await findPerson(client, { email }, signal);
  if (found === null) throw new NotFoundError(`no person ${email}`, `add them first: surveyctl people add --email ${email} --no-send`);
  const { id } = found.json;
  return typeof id === "string" ? id : JSON.stringify(id ?? null);
}

function toResponseBody(person: string, { score, comment, properties, createdAt }: ResponsesAddOptions): JsonObject {
  return {
    person,
    score,
    ...(properties.length === 0 ? {} : { person_properties: Object.fromEntries(properties) }),
    ...(comment === null ? {} : { comment }),
    ...(createdAt === null ? {} : { created_at: createdAt }),
  };
}
