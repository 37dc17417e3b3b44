/** The program that the bundle is: runs the seeds that it is asked for, one after another, and prints each result. */
import { choosePlanted } from "../planted/plant.ts";
import { PLANTED_FAULTS } from "../planted/planted-faults.ts";
import { FAULT_KINDS, type FaultKind } from "../world/options.ts";
import { runSeed } from "./run-seed.ts";

interface Task {
  readonly from: number;
  readonly count: number;
  readonly step: number;
  readonly days: number;
  readonly faults?: readonly FaultKind[];
  readonly planted?: string;
  readonly isTold?: boolean;
  /** Ends with the first violation. */
  readonly stopsEarly?: boolean;
}

async function main(task: Task): Promise<void> {
  choosePlanted(PLANTED_FAULTS.find(({ name }) => name === task.planted) ?? null);
  const tell = task.isTold === true ? (line: string): void => void process.stdout.write(`${line}\n`) : null;
  for (let at = 0; at < task.count; at += 1) {
    const seed = task.from + at * task.step;
    const result = await runSeed({ seed, days: task.days, faults: task.faults ?? FAULT_KINDS }, tell);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    if (result.violation !== null && task.stopsEarly === true) break;
  }
  process.exit(0);
}

void main(JSON.parse(process.argv[2] ?? "{}") as Task);
