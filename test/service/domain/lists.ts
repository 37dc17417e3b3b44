/** The service's lists as values, to look inside. */
import type { Bounce, Membership, Person, SurveyResponse, Unsubscribe } from "../../../src/contract/resources.ts";
import { listMembersJson } from "../../../src/service/domain/autopilot.ts";
import { listBouncesJson, listUnsubscribesJson } from "../../../src/service/domain/events.ts";
import type {
  EventsQuery,
  MembersQuery,
  PeopleQuery,
  Project,
  ResponsesQuery,
} from "../../../src/service/domain/inputs.ts";
import type { JsonPage } from "../../../src/service/domain/json-rows.ts";
import { listPeopleJson } from "../../../src/service/domain/people.ts";
import type { Transaction } from "../../../src/service/domain/ports.ts";
import { listResponsesJson, type Links } from "../../../src/service/domain/responses.ts";

interface CursorPage<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

function parsed<Row>({ json, next }: JsonPage): CursorPage<Row> {
  return { rows: JSON.parse(json) as Row[], next };
}

export async function listPeople(tx: Transaction, project: Project, query: PeopleQuery): Promise<CursorPage<Person>> {
  return parsed(await listPeopleJson(tx, project, query));
}

export async function listMembers(
  tx: Transaction,
  project: Project,
  query: MembersQuery,
): Promise<CursorPage<Membership>> {
  return parsed(await listMembersJson(tx, project, query));
}

export async function listResponses(
  tx: Transaction,
  project: Project,
  query: ResponsesQuery,
  links: Links,
): Promise<SurveyResponse[]> {
  return JSON.parse(await listResponsesJson(tx, project, query, links)) as SurveyResponse[];
}

export async function listBounces(tx: Transaction, project: Project, query: EventsQuery): Promise<Bounce[]> {
  return JSON.parse(await listBouncesJson(tx, project, query)) as Bounce[];
}

export async function listUnsubscribes(tx: Transaction, project: Project, query: EventsQuery): Promise<Unsubscribe[]> {
  return JSON.parse(await listUnsubscribesJson(tx, project, query)) as Unsubscribe[];
}
