/**
 * Runs as a separate process: starts a long change, prints "begun", works for a moment and kills itself, so that it
 * can't finish first. Arguments: data file, kind of change.
 */
import { writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { configureAutopilot } from "../../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { deletePerson } from "../../../../../src/service/domain/people/people.ts";
import type { Project } from "../../../../../src/service/domain/inputs.ts";
import type { Transaction } from "../../../../../src/service/domain/ports.ts";
import { addTrend, removeTrend } from "../../../../../src/service/domain/answers/trends.ts";
import { openSqliteStore } from "../../../../../src/service/store/sqlite/open-sqlite-store.ts";

const CHANGES: Readonly<Record<string, (tx: Transaction, project: Project) => Promise<unknown>>> = {
  "add trend": (tx, project) => addTrend(tx, project, "pro", { plan: "pro" }),
  "remove trend": async (tx, project) => {
    const [trend] = await tx.trends.list(project.id);
    return removeTrend(tx, project, String(trend?.id));
  },
  "delete person": (tx, project) => deletePerson(tx, project, { by: "email", email: "many@x.co" }),
  frequency: (tx, project) => configureAutopilot(tx, project, "email", { frequency: 60 }),
};

const [file = "", kind = ""] = process.argv.slice(2);
const store = await openSqliteStore({ file, clock: systemClock });
await store.write(
  async (tx) => {
    const project = await tx.projects.byName("default");
    if (project !== null) await CHANGES[kind]?.(tx, project);
  },
  { project: "all" },
);
// Written synchronously, so that it is out before the next step.
writeSync(1, "begun\n");
void store.settle().then(() => writeSync(1, "ended\n"));
await setImmediate();
process.kill(process.pid, "SIGKILL");
