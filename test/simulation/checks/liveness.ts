/** At the end, long after the last fault, everything due has been processed and nothing is left over. */
import { insist } from "../world/administrators.ts";
import type { Project, World } from "../world/world.ts";
import { checkLog } from "./log.ts";
import { recount } from "./recount.ts";

const WAITING = ["claimed", "transmitting", "retrying", "held"] as const;

export async function checkEnd(world: World): Promise<void> {
  const { ledger, projects } = world;
  const status = await insist(world, ({ admin }) => admin({ kind: "delivery.status" }));
  for (const state of WAITING)
    if (status !== null && status[state] > 0) ledger.violate(`${status[state]} surveys are still ${state}`);
  const now = Math.floor(world.clock.now() / 1000);
  const late = 3600 + world.options.napMs / 1000;
  const isLimited = world.options.dailyLimit !== null;
  if (!isLimited && status !== null && status.oldest_due_at !== null && status.oldest_due_at < now - late)
    ledger.violate(`a survey is due since ${now - status.oldest_due_at} s`);
  for (const project of projects) await checkProject(world, project);
  checkReminders(world);
  checkRest(world);
  if (!(await recount(world))) ledger.violate("the last recount could not be made");
}

const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;
/** The longest time a window stays closed, plus the interval between two checks while it is open. */
const CLOSED_DAYS = 4.25;

/** People who haven't answered are reminded once faults have ended. */
function checkReminders({ ledger, options, clock, projects }: World): void {
  const { reminderSeconds, dailyLimit, calmMs } = options;
  if (reminderSeconds === null || dailyLimit !== null) return;
  const owners = new Map(
    projects.flatMap((one) =>
      one.people.flatMap(({ email, phone }) => [
        [email, one],
        [phone, one],
      ]),
    ),
  );
  for (const [token, [survey]] of ledger.messages) {
    if (survey === undefined || !survey.isKnown || ledger.reminders.has(token)) continue;
    const { address, atMs } = survey;
    const dueMs = atMs + reminderSeconds * 1000;
    if (dueMs < calmMs || dueMs > clock.now() - CLOSED_DAYS * DAY_MS) continue;
    const project = owners.get(address)?.name ?? "";
    const key = `${project}/${address}`;
    const reach = ["email", "sms"].flatMap((channel) => [
      ...ledger.reach.everTried(`${project}/${channel}/${address}`),
    ]);
    const hasSaid = reach.length > 0 || ledger.respondedMs.has(key) || ledger.endangered.has(key);
    const tried = ledger.answers.everTried(`${project}/${token}`).size > 0;
    const others = [...ledger.messages.values()].flat().filter((one) => one.address === address && one.token !== token);
    if (hasSaid || tried || others.some((one) => one.atMs >= atMs)) continue;
    ledger.violate(`${address} was never reminded of the survey of ${new Date(atMs).toISOString()}`);
  }
}

/** Open files and sleeping timers of an idle service. */
const OPEN_MAX = 8;
const SLEEPERS_MAX = 6;

/** Resources are released. */
function checkRest({ disk, clock, ledger }: World): void {
  if (disk.descriptors.size > OPEN_MAX) ledger.violate(`${disk.descriptors.size} files are still open`);
  if (clock.sleepers() > SLEEPERS_MAX) ledger.violate(`${clock.sleepers()} timers still run`);
}

async function checkProject(world: World, project: Project): Promise<void> {
  await checkDeliveries(world, project);
  await checkReasons(world, project);
  await checkLog(world, project);
  const { ledger } = world;
  for (const { waiting, failed, missed } of (await insist(world, ({ admin }) =>
    admin({ kind: "webhook.list", project: project.name }),
  )) ?? [])
    if (waiting + failed + missed > 0)
      ledger.violate(`${project.name}: ${waiting} events wait, ${failed} have failed, ${missed} were missed`);
  for (const [comment, { project: owner, isAcknowledged, address }] of ledger.given) {
    if (owner !== project.name || !isAcknowledged || ledger.events.has(comment)) continue;
    if (ledger.endangered.has(`${owner}/${address}`)) continue;
    ledger.violate(`${owner}: no event ever told of ${comment}`);
  }
}

/** Every survey recorded as sent was received, exactly as often as recorded. */
async function checkDeliveries(world: World, { name }: Project): Promise<void> {
  const { ledger } = world;
  const received = new Map<string, number>();
  for (const messages of ledger.messages.values())
    for (const { address } of messages) received.set(address, (received.get(address) ?? 0) + 1);
  const sent = new Map<string, number>();
  const unknown = new Map<string, number>();
  for (let after: string | null = ""; after !== null;) {
    const page: {
      rows: readonly {
        email: string | null;
        phone_number: string | null;
        state: string;
        channel: string;
        due_at: number;
      }[];
      next: string | null;
    } | null = await insist(world, ({ admin }) =>
      admin({ kind: "delivery.list", project: name, limit: 500, after: after === "" ? null : after }),
    );
    for (const { email, phone_number: phone, state, channel, due_at: dueAt } of page?.rows ?? []) {
      const address = (channel === "sms" ? phone : email) ?? "";
      if (dueAt * 1000 > world.clock.now() + YEAR_MS)
        ledger.violate(`${address} waits until ${new Date(dueAt * 1000).toISOString()}`);
      // A later report can say that it didn't arrive.
      const counts = state === "sent" ? sent : state === "unknown" || state === "bounced" ? unknown : null;
      counts?.set(address, (counts.get(address) ?? 0) + 1);
    }
    after = page?.next ?? null;
  }
  for (const [address, count] of sent)
    if (count > (received.get(address) ?? 0)) ledger.violate(`${address} got fewer messages than were sent: ${count}`);
  for (const [address, count] of received) {
    if (!ledger.wanted.values(`${name}/${address}`).has("asked") || ledger.endangered.has(`${name}/${address}`))
      continue;
    const known = (sent.get(address) ?? 0) + (unknown.get(address) ?? 0);
    if (world.options.onUnknown === "hold" && count > known)
      ledger.violate(`${address} got ${count} messages, and ${known} are known`);
  }
}

/** Reasons for which a survey may end without being sent. */
const REASONS = /^(?:not accepted within 72 hours|too late|message refused as spam)$/;

async function checkReasons(world: World, { name, people }: Project): Promise<void> {
  for (const address of people.flatMap(({ email, phone }) => (phone === null ? [email] : [email, phone]))) {
    const history = await insist(world, ({ admin }) => admin({ kind: "delivery.show", project: name, email: address }));
    for (const { state, reason, id } of history?.surveys ?? [])
      if (state === "failed" && !REASONS.test(reason ?? ""))
        world.ledger.violate(`${name}: survey ${id} to ${address} has failed: ${reason}`);
  }
}
