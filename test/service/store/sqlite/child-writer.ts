/**
 * Runs as a separate process: sixteen writers add people, claim and send surveys, and print what has been acknowledged,
 * until killed. Arguments: data file, first number.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-sqlite-store.ts";
import { claimDue } from "../../domain/claim-due.ts";

const [file = "", first = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ file, clock: systemClock });
const project = await store.write(async (tx) => (await tx.projects.byName("default")) ?? addProject(tx, "default"), {
  project: "all",
});
const counter = { next: Number(first) };

// Written synchronously; a stream could lose acknowledged lines in a kill.
const say = (line: string): void => void writeSync(1, `${line}\n`);

async function writePeople(): Promise<never> {
  for (;;) {
    const email = `p${counter.next++}@x.co`;
    const wish = { channel: "email", delaySeconds: 0, properties: {}, replaceProperties: false, send: true } as const;
    const none = { phoneNumber: null, name: null, lastSentAt: null, emailUpdate: null, phoneNumberUpdate: null };
    await store.write((tx) => sendPerson(tx, project, { ...none, ...wish, email }), { project: "all" });
    say(`saved ${email}`);
  }
}

async function deliver(): Promise<never> {
  for (;;) {
    const due = await store.write(
      (tx) => claimDue(tx, { claimer: `process ${process.pid}`, channel: "email", leaseSeconds: 600, limit: 8 }),
      { project: "all" },
    );
    for (const survey of due) {
      say(`mailing ${survey.person.email}`);
      await store.write((tx) => finishDelivery(tx, survey, { kind: "sent" }), { project: "all" });
      say(`sent ${survey.person.email}`);
    }
  }
}

say("ready");
await Promise.all([...Array.from({ length: 16 }, writePeople), deliver()]);
