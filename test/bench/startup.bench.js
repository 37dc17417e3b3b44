// What the program costs to start, against an empty Node program.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { bareEnvironment, PROGRAM, temporaryFolder } from "./programs.js";
import { atMost, median } from "./report.js";

const empty = path.join(temporaryFolder(), "empty.mjs");
writeFileSync(empty, "");
const commands = { floor: [empty], version: [PROGRAM, "--version"], help: [PROGRAM, "--help"] };
const times = { floor: [], version: [], help: [] };

for (let round = 0; round < 43; round += 1) {
  for (const [name, args] of Object.entries(commands)) {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args, { env: bareEnvironment() });
    if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
    if (round >= 3) times[name].push(performance.now() - began);
  }
}

atMost("--version / empty program", median(times.version) / median(times.floor), 1.15);
atMost("--help / empty program", median(times.help) / median(times.floor), 1.6);
