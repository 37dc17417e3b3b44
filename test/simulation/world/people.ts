/**
 * People answer, answer twice, unsubscribe, come back, forward mail and send texts; some mailboxes bounce a mail days
 * later.
 */
import type { SentMessage } from "../checks/ledger.ts";
import { settle } from "./calls.ts";
import type { Person, World } from "./world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LEAVE = /\/u\/([\w-]{16,64})/;

export function settlePeople(world: World): void {
  const everybody = world.projects.flatMap(({ people }) => people);
  const chance = world.chance.branch("reactions");
  world.onArrival = (message, text) => {
    const person = everybody.find(({ email, phone }) => email === message.address || phone === message.address);
    if (person === undefined) return;
    const isText = message.address === person.phone;
    const leaveToken = LEAVE.exec(text.replaceAll("=\r\n", ""))?.[1] ?? null;
    const after = (work: () => Promise<void>): void => {
      const ms = chance.happens(0.7) ? chance.whole(1, 120) * MINUTE_MS : chance.whole(0, 4 * DAY_MS);
      if (world.clock.now() + ms < world.options.calmMs) world.later(ms, work);
    };
    if (chance.happens(0.5)) after(() => answer(world, person, message, chance.whole(0, 10)));
    if (chance.happens(0.2)) after(() => answer(world, person, message, chance.whole(0, 10)));
    if (chance.happens(0.2)) after(() => look(world, message.token, chance.whole(0, 10)));
    if (isText && chance.happens(0.15)) after(() => sendText(world, person, chance.pick(["STOP", "STOP", "START"])));
    if (!isText && leaveToken !== null && chance.happens(0.08)) after(() => leave(world, person, leaveToken));
    if (!isText && leaveToken !== null && chance.happens(0.03)) after(() => comeBack(world, person, leaveToken));
    if (!isText && chance.happens(0.04)) after(() => bounce(world, person, message));
  };
}

/** Each answer is identified by a unique comment. */
async function answer(world: World, person: Person, { token, address }: SentMessage, score: number): Promise<void> {
  const { calls, ledger, trace } = world;
  const { name } = person.project;
  const comment = `answer ${ledger.turn()} to ${name}`;
  const given = { project: name, address, score, isAcknowledged: false };
  ledger.given.set(comment, given);
  const isFirst = ledger.answers.everTried(`${name}/${token}`).size === 0;
  const end = ledger.answers.begin(`${name}/${token}`, comment);
  const answered = await calls.page("POST", `/s/${token}`, { score: String(score), comment, by: "script" });
  // A 204 means recorded. Any other page says that the survey is over, or what is wrong.
  const isRecorded = answered.status === 204;
  settle([end], answered.status !== null && !isRecorded && answered.status < 500 ? REFUSED : answered);
  given.isAcknowledged = isRecorded;
  trace.add(`${address} answers ${score} (${comment}): ${answered.status}`);
  if (!isRecorded) return;
  // Changing an answer doesn't create a response.
  if (isFirst) ledger.respondedMs.set(`${name}/${address}`, world.clock.now());
  trace.count("answers");
}

const REFUSED = { status: 404, headers: {}, text: "", isTaken: true } as const;

/** A scanner, or someone the mail was forwarded to, opens a link. Nothing is recorded. */
async function look({ calls, trace }: World, token: string, score: number): Promise<void> {
  const { status } = await calls.page("GET", `/s/${token}?score=${score}`);
  trace.add(`somebody looks: ${status}`);
}

async function leave({ calls, ledger, trace }: World, person: Person, token: string): Promise<void> {
  const key = `${person.project.name}/email/${person.email}`;
  const end = ledger.reach.begin(key, "left");
  const answered = await calls.page("POST", `/u/${token}`, { "List-Unsubscribe": "One-Click" });
  settle([end], answered);
  trace.add(`${person.email} leaves: ${answered.status}`);
  if (answered.status === 200) trace.count("leavers");
}

async function comeBack({ calls, ledger, trace }: World, person: Person, token: string): Promise<void> {
  const key = `${person.project.name}/email/${person.email}`;
  // The link has no effect if they unsubscribed through an earlier one, so the result is uncertain.
  const end = ledger.reach.begin(key, "open");
  const answered = await calls.page("POST", `/u/${token}/undo`, {});
  end(answered.isTaken ? "unknown" : "refused");
  trace.add(`${person.email} comes back: ${answered.status}`);
}

async function sendText({ calls, ledger, trace, hooks }: World, person: Person, words: string): Promise<void> {
  if (hooks.texts === null) return;
  const isStop = words === "STOP";
  const end = ledger.reach.begin(`${person.project.name}/sms/${person.phone}`, isStop ? "left" : "open");
  const fields = { from: person.phone ?? "", to: "+49100", text: words, id: `text ${ledger.turn()}` };
  const answered = await calls.page("POST", `/hooks/sms/${hooks.texts}`, fields);
  const isDone = settle([end], answered);
  trace.add(`${person.phone} texts ${words}: ${answered.status}`);
  if (isDone) trace.count("texts back");
}

/** The mail server accepted the mail and finds out later that the mailbox doesn't exist. */
async function bounce({ calls, ledger, trace, hooks }: World, person: Person, message: SentMessage): Promise<void> {
  if (hooks.bounces === null || message.messageId === null) return;
  const key = `${person.project.name}/email/${person.email}`;
  const end = ledger.reach.begin(key, "bounced");
  const report = { type: "hard", message_id: message.messageId, email: person.email, reason: "no such user" };
  const answered = await calls.hook(`/hooks/bounce/${hooks.bounces}`, report);
  // Erasing a survey also removes what a bounce report could be matched by.
  if (ledger.endangered.has(`${person.project.name}/${person.email}`)) end("unknown");
  else settle([end], answered);
  trace.add(`${person.email} bounces: ${answered.status}`);
  if (answered.status === 200) trace.count("bounces");
}
