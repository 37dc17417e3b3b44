/** API clients: they send surveys, save and delete people, and add and change responses. */
import { beginDeed } from "../checks/log.ts";
import { AUTOPILOT_SUBJECT } from "../checks/pacing.ts";
import { settle } from "./calls.ts";
import type { Person, World } from "./world.ts";

export async function ask(world: World, person: Person, channel: "email" | "sms", delay: number): Promise<void> {
  const { calls, ledger, trace } = world;
  const { name, key } = person.project;
  const contact = channel === "sms" ? { phone_number: person.phone } : { email: person.email };
  const address = (channel === "sms" ? person.phone : person.email) ?? "";
  const end = ledger.people.begin(`${name}/${address}`, "there");
  const endWish = ledger.wanted.begin(`${name}/${address}`, "asked");
  const known = ledger.ids.get(name) ?? 0;
  const answered = await calls.api(key, "POST", "/people.json", { ...contact, channel, delay });
  const isDone = settle([end], answered);
  trace.add(`${name} asks ${address} in ${delay} s: ${answered.status}`);
  if (!isDone) return void settle([endWish], answered);
  const { id, survey_scheduled_at: at } = JSON.parse(answered.text) as {
    id: string;
    survey_scheduled_at: number | null;
  };
  endWish(at === null ? "refused" : "acknowledged");
  noteId(world, name, Number(id), answered.status === 201 ? known : null);
  if (at !== null) trace.count("surveys");
}

/** Ids must be larger than `above`, the largest seen before the request; null if the row isn't new. */
function noteId({ ledger }: World, project: string, id: number, above: number | null): void {
  if (above !== null && id <= above) ledger.violate(`${project}: the new id ${id} is not above ${above}`);
  ledger.ids.set(project, Math.max(id, ledger.ids.get(project) ?? 0));
}

/** Saves a person without a survey and adds a response. */
export async function addResponse(world: World, person: Person, score: number): Promise<void> {
  const { calls, ledger, trace } = world;
  const { name, key } = person.project;
  const ended = ledger.people.begin(`${name}/${person.email}`, "there");
  const saved = await calls.api(key, "POST", "/people.json", { email: person.email, send: false });
  if (!settle([ended], saved)) return;
  const { id } = JSON.parse(saved.text) as { id: string };
  const comment = `answer ${ledger.turn()} to ${name}`;
  const given = { project: name, address: person.email, score, isAcknowledged: false };
  ledger.given.set(comment, given);
  const end = ledger.answers.begin(`${name}/${comment}`, comment);
  const known = ledger.ids.get(name) ?? 0;
  const answered = await calls.api(key, "POST", "/survey_responses.json", { person: id, score, comment });
  given.isAcknowledged = settle([end], answered);
  trace.add(`${name} adds a response of ${person.email} (${comment}): ${answered.status}`);
  if (!given.isAcknowledged) return;
  ledger.respondedMs.set(`${name}/${person.email}`, world.clock.now());
  trace.count("responses");
  noteId(world, name, Number((JSON.parse(answered.text) as { id: string }).id), known);
}

/** Adds to Autopilot or removes from it. */
export async function enrol({ calls, ledger, trace }: World, { project, email }: Person, isIn: boolean): Promise<void> {
  const { name, key } = project;
  const address = `${name}/${email}`;
  const ends = isIn
    ? [
        ledger.people.begin(address, "there"),
        ledger.wanted.begin(address, "asked"),
        ledger.members.begin(address, "in"),
      ]
    : [ledger.members.begin(address, "out")];
  const path = "/autopilot/email/memberships.json";
  const answered = await calls.api(key, isIn ? "POST" : "DELETE", path, {
    person_email: email,
    ...(isIn ? { properties: { service_email_subject: AUTOPILOT_SUBJECT } } : {}),
  });
  const isDone = settle(ends, answered);
  trace.add(`${name} takes ${email} ${isIn ? "into" : "out of"} Autopilot: ${answered.status}`);
  if (isDone) trace.count("enrolments");
}

export async function unsubscribe({ calls, ledger, trace }: World, person: Person): Promise<void> {
  const { name, key } = person.project;
  const end = ledger.reach.begin(`${name}/email/${person.email}`, "left");
  const answered = await calls.api(key, "POST", "/unsubscribes.json", { person_email: person.email });
  settle([end], answered);
  trace.add(`${name} unsubscribes ${person.email}: ${answered.status}`);
}

export async function remove(world: World, person: Person): Promise<void> {
  const { calls, trace } = world;
  const { name, key } = person.project;
  const ends = [beginErasure(world, person), beginDeed(world, [person.project], "people.delete")];
  const answered = await calls.api(key, "DELETE", `/people/${encodeURIComponent(`email:${person.email}`)}.json`);
  for (const end of ends)
    end(answered.status === 202 ? "acknowledged" : answered.isTaken && answered.status !== 404 ? "unknown" : "refused");
  trace.add(`${name} deletes ${person.email}: ${answered.status}`);
  if (answered.status === 202) trace.count("deleted");
}

/** From now on, the person and their answers may be gone. */
export function beginErasure(world: World, person: Person): (outcome: "acknowledged" | "refused" | "unknown") => void {
  const { ledger } = world;
  const { name } = person.project;
  const own = (): string[] => answersOf(world, person);
  const keys = own();
  const ends = [
    ledger.people.begin(`${name}/${person.email}`, "gone"),
    ledger.wanted.begin(`${name}/${person.email}`, "never"),
    ledger.members.begin(`${name}/${person.email}`, "out"),
    ...keys.map((key) => ledger.answers.begin(key, null)),
  ];
  return (outcome) => {
    for (const end of ends) end(outcome);
    if (outcome === "refused") return;
    if (outcome === "acknowledged") ledger.erasedMs.set(`${name}/${person.email}`, world.clock.now());
    ledger.endangered.add(`${name}/${person.email}`);
    // Answers given during the erasure may come before or after it.
    for (const key of own()) if (!keys.includes(key)) ledger.answers.begin(key, null)("unknown");
  };
}

function answersOf({ ledger }: World, { project, email }: Person): string[] {
  return [...ledger.answers.keys()].filter((key) =>
    [...ledger.answers.values(key)].some((comment) => {
      const given = ledger.given.get(comment ?? "");
      return given?.project === project.name && given.address === email;
    }),
  );
}
