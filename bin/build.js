#!/usr/bin/env node
// Bundles src/ into dist/: a small entry and chunks that load when they are needed.
import { spawnSync } from "node:child_process";
import { copyFile, readFile, rm, writeFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "rolldown";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const outdir = path.join(root, "dist");

// Without groups, every module shared by two chunks becomes a file: a request then opened 80 files and took 5.1 times
// as long as an empty Node program; now it opens 7 and takes 3.4 times. Each group takes its modules and their static
// imports, except those in an earlier group.
const GROUPS = [
  // Separate, because `--version` and completion need no parser.
  ["first", /src\/cli\/(?:main|completion\/complete)\.ts$/],
  ["start", /src\/cli\/program\/run\.ts$/],
  [
    "people",
    /src\/(?:cli\/commands\/people\/index|cli\/kit\/(?:progress|wait-lines|data\/\S+)|contract\/(?:brackets|questions\/questions)|runtime\/files\/(?:processes|system-words))\.ts$/,
  ],
  ["settings", /src\/(?:config\/profiles|cli\/program\/report-error)\.ts$/],
  ["connecting", /src\/cli\/kit\/connect\.ts$/],
  ["answers", /src\/cli\/commands\/(?:responses|metrics)\/index\.ts$/],
  ["report", /src\/cli\/commands\/(?:report|digest)\/write-\w+\.ts$/],
  ["export", /src\/cli\/export\/list\.ts$/],
  ["serve", /src\/cli\/commands\/serve\/index\.ts$/],
  ["service-verbs", /src\/cli\/commands\/service\/index\.ts$/],
];

await rm(outdir, { recursive: true, force: true });
const { output: chunks } = await build({
  cwd: root,
  input: {
    main: "src/cli/main.ts",
    complete: "src/cli/completion/complete.ts",
    "man-page": "src/cli/help/man-page.ts",
  },
  external: ["@photostructure/sqlite"],
  // The smaller of the library's two validators; with the other one, the `mcp` chunk has 409 KB instead of 280 KB.
  resolve: {
    alias: {
      "@modelcontextprotocol/server/_shims": fileURLToPath(
        import.meta.resolve("@modelcontextprotocol/server/_shims"),
      ).replace("shimsNode", "shimsBrowser"),
    },
  },
  // A module that is also imported statically costs nothing when it is imported dynamically.
  checks: { ineffectiveDynamicImport: false },
  platform: "node",
  transform: { target: "node20.19", define: { SURVEYCTL_VERSION: JSON.stringify(manifest.version) } },
  output: {
    dir: outdir,
    format: "esm",
    minify: true,
    comments: false,
    chunkFileNames: "[name].js",
    codeSplitting: { groups: GROUPS.map(([name, test], at) => ({ name, test, priority: GROUPS.length - at })) },
  },
});
// For the test of what each start loads; not in the package.
await writeFile(path.join(outdir, "modules.json"), JSON.stringify(sourcesOf(chunks)));
// Completion reads the command tree from a file, because building it would load every command at each key press.
const tree = spawnSync(process.execPath, [path.join(root, "bin/surveyctl.js"), "help", "--json"], { encoding: "utf8" });
if (tree.status !== 0) throw new Error(`the command tree could not be written: ${tree.stderr}`);
await writeFile(path.join(outdir, "completion.json"), JSON.stringify(JSON.parse(tree.stdout, keepForCompletion)));
// Writes the man page and removes the module that made it.
const manPage = path.join(outdir, "man-page.js");
const { writeManPage } = await import(pathToFileURL(manPage));
await writeFile(path.join(outdir, "surveyctl.1.gz"), gzipSync(await writeManPage(), { level: 9 }));
await rm(manPage);
await copyFile(path.join(root, "src/cli/help/help-tree.schema.json"), path.join(outdir, "help.schema.json"));
// The demo looks for its customers next to the module that reads them, and every chunk is directly in dist.
await copyFile(path.join(root, "src/cli/commands/demo/demo-people.csv"), path.join(outdir, "demo-people.csv"));
const bundled = await packagesOf(chunks);
await writeFile(path.join(outdir, "THIRD-PARTY-NOTICES.txt"), await notices(bundled));
await writeFile(path.join(outdir, "sbom.json"), JSON.stringify(billOfMaterials(bundled)));

/** Drops what completion doesn't use, which is half of the tree. */
function keepForCompletion(key, value) {
  const left = [
    "output_schema",
    "examples",
    "environment",
    "default",
    "repeatable",
    "required",
    "requires",
    "conflicts",
  ];
  return left.includes(key) || value === null ? undefined : value;
}

/** The modules in each file, as paths from the root. */
function sourcesOf(files) {
  return Object.fromEntries(
    files.map(({ fileName, moduleIds = [] }) => [fileName, moduleIds.map((id) => path.relative(root, id))]),
  );
}

/** The folder of the file's package; undefined for our own files. */
function packageOf(file) {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file ?? "")?.[1];
}

/** Folder and manifest of every bundled package. */
async function packagesOf(files) {
  const folders = files.flatMap(({ moduleIds = [] }) => moduleIds.map(packageOf)).filter((one) => one !== undefined);
  const found = await Promise.all([...new Set(folders)].map(readPackage));
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function readPackage(folder) {
  return { folder, ...JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) };
}

/** Each license text once, below the packages that use it. */
async function notices(packages) {
  const namesByText = new Map();
  for (const { folder, name, version, license } of packages) {
    const text = await licenceText(folder);
    if (text === "") throw new Error(`${name} has no licence text`);
    namesByText.set(text, [...(namesByText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const sections = [...namesByText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  return sections.join(`\n${"-".repeat(78)}\n\n`);
}

/** The package's license file, or else the last section of its README. */
async function licenceText(folder) {
  const files = await readdir(folder);
  const read = (file) => readFile(path.join(folder, file), "utf8");
  const licence = files.find((file) => /^licen[cs]e/i.test(file));
  if (licence !== undefined) return (await read(licence)).trim();
  const [, section = ""] = /^#+ licen[cs]e\n(.*)/ims.exec(await read("README.md")) ?? [];
  return section.trim();
}

/**
 * npm's list of installed packages as CycloneDX, without those that aren't in the package. It is the same in every
 * build.
 */
function billOfMaterials(packages) {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { stdout, status, stderr } = spawnSync("npm", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm sbom: ${stderr}`);
  const { serialNumber: _, metadata, components, dependencies, ...rest } = JSON.parse(stdout);
  const { name, version, description, license } = manifest;
  const component = { ...metadata.component, name, version, description, licenses: [{ license: { id: license } }] };
  const kept = new Set([component["bom-ref"], ...packages.map((one) => `${one.name}@${one.version}`)]);
  for (const { "bom-ref": ref } of components) if (isOptional(ref)) kept.add(ref);
  return {
    ...rest,
    metadata: { component },
    // npm lists them as development dependencies, but they are bundled into the package.
    components: components
      .filter(({ "bom-ref": ref }) => kept.has(ref))
      .map((one) => ({ ...one, scope: isOptional(one["bom-ref"]) ? "optional" : "required", properties: [] })),
    dependencies: dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) })),
  };
}

/** Whether npm installs it only on request. */
function isOptional(ref) {
  return Object.keys(manifest.optionalDependencies).some((name) => ref.startsWith(`${name}@`));
}
