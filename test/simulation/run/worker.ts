/** The bundle's entry: runs one task and prints the result of each seed. */
import { choosePlanted } from "../planted/plant.ts";
import { PLANTED_FAULTS } from "../planted/planted-faults.ts";
import { FAULT_KINDS, type FaultKind } from "../world/options.ts";
import { runSeed } from "./run-seed.ts";

interface Task {
  readonly from: number;
  readonly count: number;
  readonly days: number;
  /** URL of a database used only by this task; by default, worlds use simulated data files. */
  readonly database?: string;
  readonly faults?: readonly FaultKind[];
  /** Name of a planted fault. */
  readonly planted?: string;
  /** Whether to print each event. */
  readonly isTold: boolean;
}

/** Stops at the first violation. */
async function runTask(task: Task): Promise<void> {
  const { from, count, days, faults = FAULT_KINDS, planted, database = null } = task;
  const fault = PLANTED_FAULTS.find(({ name }) => name === planted) ?? null;
  if (planted !== undefined && fault === null) throw new Error(`no planted fault is called ${planted}`);
  choosePlanted(fault);
  const tell = task.isTold ? (line: string): void => void process.stdout.write(`${line}\n`) : null;
  for (let at = 0; at < count; at += 1) {
    const result = await runSeed({ seed: from + at, days, faults, database }, tell);
    process.stdout.write(`${JSON.stringify({ ...result, planted })}\n`);
    if (result.violation !== null) return;
  }
}

async function main(task: Task): Promise<void> {
  await runTask(task);
  process.exit(0);
}

void main(JSON.parse(process.argv[2] ?? "") as Task);
