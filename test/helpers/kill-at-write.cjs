// Required into the program: kills it before the so many-th time that it writes to a file. KILL_AT_WRITE is that number,
// or 0 to say at the end how many there were. Only an engine that writes through Node can be killed so.
const fs = require("node:fs");

const last = Number(process.env.KILL_AT_WRITE);
const state = { writes: 0 };

for (const name of ["writeSync", "fsyncSync", "ftruncateSync"]) {
  const original = fs[name];
  fs[name] = (...args) => {
    state.writes += 1;
    if (state.writes === last) process.kill(process.pid, "SIGKILL");
    return Reflect.apply(original, fs, args);
  };
}

if (last === 0) process.on("exit", () => process.stderr.write(`\nwrites ${state.writes}\n`));
