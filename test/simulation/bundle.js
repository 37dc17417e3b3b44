// Bundles the service with the simulated file system, transports and SQLite library, and makes each function that a
// planted fault changes replaceable.
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";

const here = import.meta.dirname;
const root = path.join(here, "../..");
const library = path.dirname(createRequire(import.meta.url).resolve("node-sqlite3-wasm"));

/** Keyed by the import's specifier. */
const STAND_INS = {
  "node:fs": "disk/files.ts",
  fs: "disk/files.ts",
  "node:fs/promises": "disk/promises.ts",
};
/** Keyed by the resolved file. */
const SEAMS = {
  "service/delivery/smtp/smtp-transport.ts": "seams/smtp-transport.ts",
  "service/delivery/sms/gateway-transport.ts": "seams/gateway-transport.ts",
  "service/webhook/transport.ts": "seams/endpoint-transport.ts",
  "service/sending/heartbeat.ts": "seams/heartbeat.ts",
  "service/store/postgres/connections.ts": "seams/connections.ts",
  "service/store/postgres/open-postgres-store.ts": "seams/open-postgres-store.ts",
  "service/store/sqlite/open-sqlite-store.ts": "seams/open-sqlite-store.ts",
  "service/store/sqlite/snapshot-copy.ts": "seams/snapshot-copy.ts",
  "service/store/sqlite/engine/engine.ts": "seams/engine.ts",
};
const PLANTED = "\0planted:";

/** Writes the bundle into `folder`. Returns the file to run, and the planted faults with the seeds that find them. */
export async function bundleWorld(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { PLANTED_FAULTS, FOUND_AT } = await readPlanted(folder);
  const places = placesOf(PLANTED_FAULTS);
  const toHunted = ({ name, isOfServer = false }) => ({ name, isOfServer, seed: FOUND_AT[name] ?? 1 });
  const file = path.join(folder, "worker.cjs");
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  await build({
    cwd: root,
    input: path.join(here, "run/worker.ts"),
    platform: "node",
    logLevel: "warn",
    plugins: [{ name: "world", resolveId: (...args) => resolve(places, ...args), load: (id) => load(places, id) }],
    transform: { target: "node20.19", define: { SURVEYCTL_VERSION: JSON.stringify(version) } },
    output: { file, format: "cjs", codeSplitting: false },
  });
  copyFileSync(path.join(library, "node-sqlite3-wasm.wasm"), path.join(folder, "node-sqlite3-wasm.wasm"));
  return { file, planted: PLANTED_FAULTS.map(toHunted) };
}

async function readPlanted(folder) {
  const file = path.join(folder, "planted.mjs");
  const input = path.join(here, "planted/planted-faults.ts");
  await build({ cwd: root, input, platform: "node", logLevel: "warn", output: { file, format: "esm" } });
  return import(pathToFileURL(file));
}

/** Functions that planted faults change, by module. */
function placesOf(faults) {
  const places = new Map();
  for (const { module, function: name } of faults) {
    const file = path.join(root, "src", module);
    places.set(file, new Set([...(places.get(file) ?? []), name]));
  }
  return places;
}

async function resolve(places, source, importer) {
  if (Object.hasOwn(STAND_INS, source) && !isDisk(importer)) return path.join(here, STAND_INS[source]);
  if (!source.startsWith(".") || importer === undefined) return null;
  // The module that wraps a planted function imports the original.
  if (importer.startsWith(PLANTED)) return null;
  const target = path.resolve(path.dirname(importer), source);
  const seam = SEAMS[path.relative(path.join(root, "src"), target)];
  if (seam !== undefined && path.dirname(importer) !== path.join(here, "seams")) return path.join(here, seam);
  return places.has(target) ? PLANTED + target : null;
}

function isDisk(importer) {
  return importer !== undefined && path.dirname(importer) === path.join(here, "disk");
}

/** Re-exports everything and lets planted faults replace functions. */
function load(places, id) {
  if (!id.startsWith(PLANTED)) return null;
  const original = id.slice(PLANTED.length);
  const module = path.relative(path.join(root, "src"), original);
  const [from, plant] = [original, path.join(here, "planted/plant.ts")].map((file) => JSON.stringify(file));
  const names = [...(places.get(original) ?? [])];
  const wrapped = names.map(
    (name) => `export const ${name} = plantable(${JSON.stringify(module)}, "${name}", () => original.${name});`,
  );
  const head = [`export * from ${from};`, `import * as original from ${from};`, `import { plantable } from ${plant};`];
  return [...head, ...wrapped].join("\n");
}
