#!/usr/bin/env node
// Bundles src/ into dist/: one small entry and chunks that load when they are needed.
import { copyFile, readFile, rm, writeFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const outdir = path.join(root, "dist");

await rm(outdir, { recursive: true, force: true });
const result = await build({
  absWorkingDir: root,
  entryPoints: ["src/cli/main.ts"],
  outdir,
  bundle: true,
  splitting: true,
  minify: true,
  keepNames: true,
  metafile: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: ["node-sqlite3-wasm"],
  define: { SURVEYCTL_VERSION: JSON.stringify(manifest.version) },
  // CommonJS dependencies call require() inside an ES module.
  banner: {
    js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
  },
  legalComments: "none",
});
// The demo looks for its customers beside the module that reads them; every chunk lies in dist itself.
await copyFile(path.join(root, "src/cli/commands/demo/demo-people.csv"), path.join(outdir, "demo-people.csv"));
await writeFile(path.join(outdir, "THIRD-PARTY-NOTICES.txt"), await notices(result.metafile));

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
