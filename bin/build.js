#!/usr/bin/env node
// Bundles src/ into dist/: one small entry and chunks that load when they are needed.
import { spawnSync } from "node:child_process";
import { copyFile, readFile, rm, writeFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const outdir = path.join(root, "dist");

await rm(outdir, { recursive: true, force: true });
const shared = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  minify: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  define: { SURVEYCTL_VERSION: JSON.stringify(manifest.version) },
  legalComments: "none",
};
const result = await build({
  ...shared,
  entryPoints: ["src/cli/program/run.ts", "src/cli/program/root-help.ts", "src/cli/program/complete.ts", "src/cli/program/man-page.ts"],
  splitting: true,
  metafile: true,
  external: ["node-sqlite3-wasm"],
  // CommonJS dependencies call require() inside an ES module.
  banner: {
    js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
  },
});
// The door is one file by itself: each further module that `--version` opened would show in its start-up.
await build({ ...shared, entryPoints: ["src/cli/main.ts"], plugins: [{ name: "lazy", setup: keepLazyImports }] });
// Completion reads the command tree from a file: making it would load every command at each key.
const tree = spawnSync(process.execPath, [path.join(root, "bin/surveyctl.js"), "help", "--json"], { encoding: "utf8" });
if (tree.status !== 0) throw new Error(`the command tree could not be written: ${tree.stderr}`);
await writeFile(path.join(outdir, "completion.json"), JSON.stringify(JSON.parse(tree.stdout)));
// The man page is written here and now; the module that does it is of no use to anybody else.
const manPage = path.join(outdir, "man-page.js");
const { writeManPage } = await import(pathToFileURL(manPage));
await writeFile(path.join(outdir, "surveyctl.1"), await writeManPage());
await rm(manPage);
await copyFile(path.join(root, "src/cli/program/help-tree.schema.json"), path.join(outdir, "help.schema.json"));
// The demo looks for its customers beside the module that reads them; every chunk lies in dist itself.
await copyFile(path.join(root, "src/cli/commands/demo/demo-people.csv"), path.join(outdir, "demo-people.csv"));
await writeFile(path.join(outdir, "THIRD-PARTY-NOTICES.txt"), await notices(result.metafile));

/** Leaves `import("./program/x.ts")` to the bundle that lies beside it. */
function keepLazyImports(builder) {
  builder.onResolve({ filter: /^\.\/program\// }, (args) => ({ path: `./${path.basename(args.path, ".ts")}.js`, external: true }));
}

/** The licence texts of every package whose code is inside the bundle. */
async function notices(metafile) {
  const names = Object.keys(metafile.inputs)
    .map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
    .filter((name) => name !== undefined);
  const sections = [];
  for (const name of [...new Set(names)].toSorted()) {
    const folder = path.join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const licenceFile = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
    const text = licenceFile ? await readFile(path.join(folder, licenceFile), "utf8") : "";
    sections.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return sections.join(`\n${"-".repeat(78)}\n\n`);
}
