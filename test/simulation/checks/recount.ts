/** Compares everything the service lists with what it acknowledged and with its own counts. */
import type { Metrics } from "../../../src/contract/resources.ts";
import { LEAD_MAX_SECONDS } from "../../../src/service/domain/write-time.ts";
import type { Project, World } from "../world/world.ts";
import type { Ledger } from "./ledger.ts";

interface ListedPerson {
  readonly id: string;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly created_at: number;
}

interface ListedResponse {
  readonly id: string;
  readonly score: number;
  readonly comment: string | null;
  readonly created_at: number;
  readonly updated_at: number | null;
  readonly person: ListedPerson;
}

interface ListedMember {
  readonly person: { readonly email: string | null };
  readonly next_survey_request: { readonly survey_scheduled_at: number } | null;
}

const PAGE = 100;

/** Null if the machine went down, because the list may then be incomplete. */
async function readAll<Row>(world: World, { key }: Project, path: string): Promise<readonly Row[] | null> {
  const rows: Row[] = [];
  for (let next: string | null = `${path}per_page=${PAGE}`; next !== null;) {
    const { status, text, headers } = await world.calls.api(key, "GET", next);
    if (status !== 200) return null;
    const page = JSON.parse(text) as Row[];
    rows.push(...page);
    const link = /<[^>]*\/v1([^>]+)>; rel="next"/.exec(headers["link"] ?? "")?.[1];
    next = link ?? null;
  }
  return rows;
}

/** Requests changes since the last row, like a polling client. Null if the machine went down. */
export async function poll(world: World, project: Project): Promise<ReadonlyMap<string, number> | null> {
  const { polled } = world.ledger;
  const known = polled.get(project.name) ?? new Map<string, number>();
  polled.set(project.name, known);
  const since = Math.max(0, ...known.values());
  const path = `/survey_responses.json?sort=asc:updated_at&updated_since=${since}&`;
  const changed = await readAll<ListedResponse>(world, project, path);
  for (const { id, updated_at: updatedAt, created_at: createdAt } of changed ?? [])
    known.set(id, updatedAt ?? createdAt);
  return changed === null ? null : known;
}

/** Returns false if it was interrupted. Don't send other requests until it returns. */
export async function recount(world: World): Promise<boolean> {
  for (const project of world.projects) {
    if (project.key === "") continue;
    const people = await readAll<ListedPerson>(world, project, "/people.json?");
    const responses = await readAll<ListedResponse>(world, project, "/survey_responses.json?expand[]=person&");
    const left = await readAll<{ readonly email: string | null }>(world, project, "/unsubscribes.json?");
    const bounced = await readAll<{ readonly email: string | null }>(world, project, "/bounces.json?");
    const members = await readAll<ListedMember>(world, project, "/autopilot/email/memberships.json?");
    const polled = await poll(world, project);
    const metrics = await world.calls.api(project.key, "GET", "/metrics.json?since=0");
    if (
      people === null ||
      responses === null ||
      left === null ||
      bounced === null ||
      members === null ||
      polled === null
    )
      return false;
    if (metrics.status !== 200) return false;
    checkPeople(world, project, people);
    checkResponses(world, project, responses);
    checkReach(world, project, people, { left: emails(left), bounced: emails(bounced) });
    checkMembers(world, project, members);
    checkPolled(world, project, responses, polled);
    checkMetrics(world, project, responses, JSON.parse(metrics.text) as Metrics);
  }
  world.trace.count("recounts");
  return true;
}

function emails(rows: readonly { readonly email: string | null }[]): string[] {
  return rows.map(({ email }) => email ?? "");
}

function checkPeople({ ledger }: World, { name }: Project, people: readonly ListedPerson[]): void {
  const listed = new Set(
    people.flatMap(({ email, phone_number: phone }) => [email, phone]).filter((one) => one !== null),
  );
  if (listed.size !== people.length) ledger.violate(`${name} lists somebody twice`);
  for (const address of listed) {
    const key = `${name}/${address}`;
    if (![...ledger.people.keys()].includes(key)) ledger.violate(`${name} lists ${address}, who is not its own`);
    if (ledger.people.isSurely(key, "gone")) ledger.violate(`${name} lists ${address}, who was never saved or is gone`);
  }
  for (const key of ledger.people.keys()) {
    const [project, address = ""] = key.split("/");
    if (project === name && ledger.people.isSurely(key, "there") && !listed.has(address))
      ledger.violate(`${name} has lost ${address}`);
  }
  checkOrder(ledger, name, "people", people);
}

function checkOrder(
  { violate, clocks }: Pick<Ledger, "violate" | "clocks">,
  name: string,
  what: string,
  rows: readonly { readonly id: string; readonly created_at: number }[],
): void {
  const inOrder = rows.toSorted((one, other) => Number(one.id) - Number(other.id));
  if (new Set(rows.map(({ id }) => id)).size !== rows.length) violate(`${name} gives an id of ${what} twice`);
  for (const [at, row] of inOrder.entries()) {
    const before = inOrder[at - 1];
    if (before !== undefined && before.created_at > row.created_at + clocks.wrongMs / 1000)
      violate(`${name}: ${what} ${row.id} is older than ${before.id}`);
  }
}

function checkResponses({ ledger }: World, { name }: Project, responses: readonly ListedResponse[]): void {
  const listed = new Map(responses.map((row) => [row.comment ?? "", row]));
  if (listed.size !== responses.length) ledger.violate(`${name} lists a response twice`);
  for (const [comment, { score, person }] of listed) {
    const given = ledger.given.get(comment);
    if (given === undefined) ledger.violate(`${name} has a response that nobody gave: ${comment} (${score})`);
    else if (given.project !== name) ledger.violate(`${name} lists a response of ${given.project}`);
    else if (given.score !== score) ledger.violate(`${name}: ${comment} was ${given.score} and is ${score}`);
    else if (given.address !== (person.email ?? person.phone_number))
      ledger.violate(`${name}: ${comment} of ${given.address} is listed as ${person.email}'s`);
  }
  const possible = new Set<string>();
  for (const key of ledger.answers.keys()) {
    if (!key.startsWith(`${name}/`)) continue;
    const values = ledger.answers.values(key);
    const comments = [...values].filter((comment) => comment !== null);
    for (const comment of comments) possible.add(comment);
    const found = comments.filter((comment) => listed.has(comment));
    if (found.length > 1) ledger.violate(`${name} has two responses to one survey: ${found.join(", ")}`);
    if (found.length === 0 && !values.has(null))
      ledger.violate(`${name} has lost a response: ${comments.join(" or ")}`);
  }
  for (const comment of listed.keys())
    if (!possible.has(comment)) ledger.violate(`${name} has a response that was replaced or deleted: ${comment}`);
  checkOrder(ledger, name, "responses", responses);
}

function checkPolled(
  { ledger }: World,
  { name }: Project,
  responses: readonly ListedResponse[],
  polled: ReadonlyMap<string, number>,
): void {
  const { wrongMs, wereYearsAhead } = ledger.clocks;
  // Time then goes backwards, because nobody knows which clock was right.
  if (wrongMs > (wereYearsAhead ? 0 : LEAD_MAX_SECONDS * 1000)) return;
  for (const { id, updated_at: updatedAt, created_at: createdAt } of responses)
    if (polled.get(id) !== (updatedAt ?? createdAt))
      ledger.violate(`${name}: a client that polls has missed a change of response ${id}`);
}

function checkReach(
  { ledger }: World,
  { name }: Project,
  people: readonly ListedPerson[],
  listed: { readonly left: readonly string[]; readonly bounced: readonly string[] },
): void {
  for (const { email } of people) {
    if (email === null) continue;
    const values = ledger.reach.values(`${name}/email/${email}`);
    if (values.size !== 1) continue;
    if (values.has("left") && !listed.left.includes(email)) ledger.violate(`${name} has forgotten that ${email} left`);
    if (values.has("bounced") && !listed.bounced.includes(email))
      ledger.violate(`${name} has forgotten that ${email} bounced`);
  }
  for (const email of listed.left)
    if (![...ledger.reach.everTried(`${name}/email/${email}`)].includes("left"))
      ledger.violate(`${name} lists ${email}, who never left`);
}

/** Every member has a next survey unless mail to them is blocked. */
function checkMembers({ ledger }: World, { name }: Project, members: readonly ListedMember[]): void {
  const listed = new Map(members.map((member) => [member.person.email ?? "", member]));
  for (const email of listed.keys())
    if (ledger.members.isSurely(`${name}/${email}`, "out")) ledger.violate(`${name} lists ${email} in Autopilot`);
  for (const key of ledger.members.keys()) {
    const [project, email = ""] = key.split("/");
    if (project !== name || !ledger.members.isSurely(key, "in")) continue;
    const member = listed.get(email);
    if (member === undefined) ledger.violate(`${name} has lost ${email} from Autopilot`);
    else if (member.next_survey_request === null && ledger.reach.everTried(`${name}/email/${email}`).size === 0)
      ledger.violate(`${name} will never ask ${email} again`);
  }
}

/** Recomputes the metrics by the specification's definition. */
function checkMetrics(
  { ledger }: World,
  { name }: Project,
  responses: readonly ListedResponse[],
  metrics: Metrics,
): void {
  const count = (low: number, high: number): number =>
    responses.filter(({ score }) => low <= score && score <= high).length;
  const counted = {
    response_count: responses.length,
    promoter_count: count(9, 10),
    passive_count: count(7, 8),
    detractor_count: count(0, 6),
  };
  for (const [figure, value] of Object.entries(counted)) {
    const told = metrics[figure as keyof typeof counted];
    if (told !== value) ledger.violate(`${name}: ${figure} is ${value} and the metrics say ${told}`);
  }
}
