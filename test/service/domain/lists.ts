import type { Bounce, Membership, Person, SurveyResponse, Unsubscribe } from "../../../src/contract/resources.ts";
import { listMembersJson } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import type { MembersQuery, PeopleQuery, Project, ResponsesQuery } from "../../../src/service/domain/inputs.ts";
import type { JsonPage } from "../../../src/service/domain/ids.ts";
import { listPeopleJson } from "../../../src/service/domain/people/people.ts";
import { DELIVERY_STATES } from "../../../src/service/domain/delivery/queue-rows.ts";
import type {
  DeliveryRow,
  DeliveryState,
  EventsFilter,
  JsonRows,
  Transaction,
} from "../../../src/service/domain/ports.ts";
import { listResponsesJson, type Links } from "../../../src/service/domain/answers/responses.ts";

export async function deliveriesOf(
  tx: Transaction,
  project: number,
  state: DeliveryState | null = null,
): Promise<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  const page = { since: null, until: null, order: "asc", after: null, limit: 1_000_000 } as const;
  for (const one of [...DELIVERY_STATES, "paused" as const])
    rows.push(...(await tx.deliveries.listBySchedule(project, { state: one }, page)));
  return rows
    .filter((row) => state === null || row.state === state)
    .toSorted((left, right) => left.requestId - right.requestId);
}

interface CursorPage<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

function parsed<Row>({ rows, next }: JsonPage): CursorPage<Row> {
  return { rows: parsedRows(rows), next };
}

function parsedRows<Row>(rows: JsonRows): Row[] {
  return rows.map((row) => JSON.parse(row) as Row);
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
  return parsedRows<SurveyResponse>(await listResponsesJson(tx, project, query, links));
}

export async function listBounces(tx: Transaction, project: Project, query: EventsFilter): Promise<Bounce[]> {
  return parsedRows<Bounce>(await tx.people.listEvents(project.id, "bounced_at", query));
}

export async function listUnsubscribes(tx: Transaction, project: Project, query: EventsFilter): Promise<Unsubscribe[]> {
  return parsedRows<Unsubscribe>(await tx.people.listEvents(project.id, "unsubscribed_at", query));
}
