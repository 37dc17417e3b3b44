#!/usr/bin/env node
// Bundles src/ into dist/: one small entry and chunks that load when they are needed.
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readFile, rm, writeFile, readdir } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";

const EMPTY = "module.exports = {};";
const { ERROR, TYPE } = createRequire(import.meta.url)("undici/lib/llhttp/constants.js");
// What packages load and this program has little use for or none, each a part of every start, and what they get instead.
// commander could run other programs; undici could speak HTTP/2, send forms, and parse with SIMD instructions, and
// destroys streams of node:http with care; pg could use the library of PostgreSQL.
const STAND_INS = {
  commander: { "node:child_process": EMPTY },
  undici: {
    "node:assert": "module.exports = (ok, message) => { if (!ok) throw new Error(message ?? 'assertion failed'); };",
    "node:http": EMPTY,
    "./client-h2.js": EMPTY,
    "../web/fetch/body.js": EMPTY,
    "../llhttp/llhttp_simd-wasm.js": EMPTY,
    "../llhttp/constants.js": `module.exports = ${JSON.stringify({ ERROR, TYPE })};`,
  },
  pg: { "./native": EMPTY },
};
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const outdir = path.join(root, "dist");

await rm(outdir, { recursive: true, force: true });
const shared = {
  cwd: root,
  plugins: [{ name: "start", resolveId: resolveStandIn, load: loadStandIn, renderChunk: askForBuiltins }],
  platform: "node",
  // Most of what undici wraps is never run; V8 would compile all of it at once.
  optimization: { pifeForModuleWrappers: false },
  transform: { target: "node20.19", define: { SURVEYCTL_VERSION: JSON.stringify(manifest.version) } },
};
const output = { format: "esm", minify: true, comments: false, chunkFileNames: "[name].js" };
const entries = { run: "program", "man-page": "help", "help-tree": "help" };
const chunks = await bundle({
  input: Object.fromEntries(Object.entries(entries).map(([name, room]) => [name, `src/cli/${room}/${name}.ts`])),
  external: ["node-sqlite3-wasm"],
  preserveEntrySignatures: "allow-extension",
  output: { ...output, codeSplitting: { groups: startGroups() } },
});
// The door is one file by itself, and completion another: each further module that they opened would show.
const door = await bundle({
  input: { main: "src/cli/main.ts", complete: "src/cli/completion/complete.ts" },
  external: /^\.\.?\/(?:program|help)\//,
  output: { ...output, paths: besideMain },
});
// For the test of what each start loads; no part of the package.
await writeFile(path.join(outdir, "modules.json"), JSON.stringify(sourcesOf([...chunks, ...door])));
// Completion reads the command tree from a file: making it would load every command at each key.
const tree = spawnSync(process.execPath, [path.join(root, "bin/surveyctl.js"), "help", "--json"], { encoding: "utf8" });
if (tree.status !== 0) throw new Error(`the command tree could not be written: ${tree.stderr}`);
await writeFile(path.join(outdir, "completion.json"), JSON.stringify(JSON.parse(tree.stdout)));
// The man page is written here and now; the module that does it is of no use to anybody else.
const manPage = path.join(outdir, "man-page.js");
const { writeManPage } = await import(pathToFileURL(manPage));
await writeFile(path.join(outdir, "surveyctl.1"), await writeManPage());
await rm(manPage);
await copyFile(path.join(root, "src/cli/help/help-tree.schema.json"), path.join(outdir, "help.schema.json"));
// The demo looks for its customers beside the module that reads them; every chunk lies in dist itself.
await copyFile(path.join(root, "src/cli/commands/demo/demo-people.csv"), path.join(outdir, "demo-people.csv"));
await writeFile(path.join(outdir, "THIRD-PARTY-NOTICES.txt"), await notices(chunks));

async function bundle(options) {
  const { output: files } = await build({ ...shared, ...options, write: false });
  await mkdir(outdir, { recursive: true });
  for (const { fileName, code } of files) await writeFile(path.join(outdir, fileName), toAscii(code));
  return files;
}

/** The modules in each file, as paths from the root. */
function sourcesOf(files) {
  return Object.fromEntries(
    files.map(({ fileName, moduleIds = [] }) => [fileName, moduleIds.map((id) => path.relative(root, id))]),
  );
}

/** V8 reads a source of plain ASCII twice as fast. What `String.raw` holds cannot be written in another way. */
function toAscii(code) {
  if (code.includes("String.raw")) return code;
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * What a start loads together lies together: opening a file costs more than the code in it. A group holds one module and
 * whatever that imports, without what stands in a group before it.
 */
function startGroups() {
  const groups = [
    { name: "run", test: /program\/run\.ts$/ },
    { name: "people", test: /commands\/people\/index\.ts$/ },
    { name: "connect", test: /command\/connect\.ts$/ },
  ];
  return groups.map((group, at) => ({ ...group, priority: groups.length - at }));
}

/** Leaves `import("./room/x.ts")` to the bundle that lies beside it. */
function besideMain(id) {
  return id.endsWith(".ts") ? `./${path.basename(id, ".ts")}.js` : id;
}

/** Node's own modules are had without a `require`, which would have to be made at every start. */
function resolveStandIn(source, importer, { kind }) {
  const owner = packageOf(importer);
  if (Object.hasOwn(STAND_INS[owner] ?? {}, source)) return `\0stand-in:${owner}:${source}`;
  return kind === "require-call" && isBuiltin(source) ? `\0builtin:${source}` : null;
}

function loadStandIn(id) {
  const [kind, owner, ...source] = id.split(":");
  if (kind === "\0stand-in") return STAND_INS[owner][source.join(":")];
  return kind === "\0builtin" ? `module.exports = globalThis.process.getBuiltinModule("${id.slice(9)}");` : null;
}

/** An `import` of one of Node's modules reads every export of it, and that loads what stands behind the lazy ones. */
function askForBuiltins(code) {
  return code.replaceAll(/^import (?:([\w$]+)|(\{[^}]*\})) from "(node:\w[\w/]*)";$/gm, (_, whole, names, module) => {
    return `const ${whole ?? names.replaceAll(" as ", ": ")} = globalThis.process.getBuiltinModule("${module}");`;
  });
}

/** The package that a file is a part of; undefined for none. */
function packageOf(file) {
  return /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file ?? "")?.[1];
}

/** The licence texts of every package whose code is inside the bundle. */
async function notices(bundled) {
  const names = bundled
    .flatMap(({ moduleIds = [] }) => moduleIds)
    .map(packageOf)
    .filter((name) => name !== undefined);
  const sections = [];
  for (const name of [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1))) {
    const folder = path.join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const licenceFile = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
    const text = licenceFile ? await readFile(path.join(folder, licenceFile), "utf8") : "";
    sections.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return sections.join(`\n${"-".repeat(78)}\n\n`);
}
