/** `delivery.list` and `delivery.days`, on an open store. */
import { type DayCounts, countDays, listMerged } from "../../domain/delivery/lists/list-deliveries.ts";
import { openSources, type Source } from "../../domain/delivery/lists/sources.ts";
import { NotFoundError } from "../../domain/errors.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import type { DuePage, ProjectRow, Store, Transaction } from "../../domain/ports.ts";
import { readWallClock } from "../../domain/projects/settings.ts";
import type { AdminResults, CommandOf, Handlers } from "../commands.ts";
import { readInProject } from "../in-project.ts";
import { toDeliveryInfo } from "./handlers.ts";
import type { DeliveryDayInfo } from "./commands.ts";

type Kind = "delivery.list" | "delivery.days";

/** Each day is counted in every state: more of them in one read would hold up a service's other work. */
const DAYS_A_PAGE = 31;

export function createListHandlers(store: Store): Pick<Handlers, Kind> {
  return {
    "delivery.list": (command) =>
      readInProject(store, command.project, async (tx, project) =>
        listPage(await sourcesFor(tx, project, command), toPage(command)),
      ),
    "delivery.days": (command) =>
      readInProject(store, command.project, async (tx, project) => {
        const sources = await sourcesFor(tx, project, command);
        const limit = Math.min(command.limit, DAYS_A_PAGE);
        const { after, ...page } = toPage(command);
        const wallClock = await readWallClock(tx, project);
        const days = await countDays(sources, wallClock, { ...page, after: after?.at ?? null, limit: limit + 1 });
        const next = days.length > limit ? days[limit - 1] : undefined;
        return { rows: days.slice(0, limit).map(toDayInfo), next: next === undefined ? null : String(next.beginsAt) };
      }),
  };
}

/** Throws NotFoundError where nobody has the address. */
async function sourcesFor(
  tx: Transaction,
  project: ProjectRow,
  { state, reason, email }: CommandOf<Kind>,
): Promise<readonly Source[]> {
  const personId = await findPerson(tx, project, email);
  return openSources(tx, project, { state: state ?? null, reason: reason ?? null, personId });
}

async function findPerson(tx: Transaction, project: ProjectRow, address: string | undefined): Promise<number | null> {
  if (address === undefined) return null;
  const isPhone = isE164(address);
  const person = isPhone ? await tx.people.byPhone(project.id, address) : await tx.people.byEmail(project.id, address);
  if (person !== null) return person.id;
  throw new NotFoundError(
    `no person found with ${isPhone ? "phone number" : "email"} ${address} in project ${project.name}`,
  );
}

function toPage({ since, until, order = "desc", after, limit }: CommandOf<Kind>): DuePage {
  return { since: since ?? null, until: until ?? null, order, after: readPlace(after), limit };
}

/** `1763596800:42`, as `next` names the last row of a page; of a day its first second alone. */
function readPlace(text: string | undefined): DuePage["after"] {
  const [at = "", id = "0"] = (text ?? "").split(":");
  return Number(at) > 0 ? { at: Number(at), id: Number(id) } : null;
}

async function listPage(sources: readonly Source[], page: DuePage): Promise<AdminResults["delivery.list"]> {
  const rows = await listMerged(sources, { ...page, limit: page.limit + 1 });
  const last = rows.length > page.limit ? rows[page.limit - 1] : undefined;
  return {
    rows: rows.slice(0, page.limit).map((row) => toDeliveryInfo(row.id, row)),
    next: last === undefined ? null : `${last.at}:${last.id}`,
  };
}

function toDayInfo({ day, counts }: DayCounts): DeliveryDayInfo {
  const { not_scheduled: unscheduled, ...surveys } = counts;
  const sum = Object.values(surveys).reduce((total, count) => total + count, 0);
  return { day, surveys: sum, ...surveys, not_scheduled: unscheduled };
}
