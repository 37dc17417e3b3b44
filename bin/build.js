#!/usr/bin/env node
// Bundles src/ into dist/: one small entry and chunks that load when they are needed.
import { spawnSync } from "node:child_process";
import { copyFile, readFile, rm, writeFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "rolldown";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const outdir = path.join(root, "dist");

// Without groups, every module that two chunks share becomes a file: 80 to open for a request, which then took 5.1
// times as long as an empty Node program; now 7 files and 3.4 times. Each group takes its modules and everything that
// they import statically, except what an earlier group has.
const GROUPS = [
  // `--version` and completion stay apart: they need no parser.
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
  // The lighter of the library's own two validators: with the other one the chunk of `mcp` has 409 KB in place of 280.
  resolve: {
    alias: {
      "@modelcontextprotocol/server/_shims": fileURLToPath(
        import.meta.resolve("@modelcontextprotocol/server/_shims"),
      ).replace("shimsNode", "shimsBrowser"),
    },
  },
  // A module may be imported both ways: where it is static already, the other import costs nothing.
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
// For the test of what each start loads; no part of the package.
await writeFile(path.join(outdir, "modules.json"), JSON.stringify(sourcesOf(chunks)));
// Completion reads the command tree from a file: making it would load every command at each key.
const tree = spawnSync(process.execPath, [path.join(root, "bin/surveyctl.js"), "help", "--json"], { encoding: "utf8" });
if (tree.status !== 0) throw new Error(`the command tree could not be written: ${tree.stderr}`);
await writeFile(path.join(outdir, "completion.json"), JSON.stringify(JSON.parse(tree.stdout, keepForCompletion)));
// The man page is written here and now; the module that does it is of no use to anybody else.
const manPage = path.join(outdir, "man-page.js");
const { writeManPage } = await import(pathToFileURL(manPage));
await writeFile(path.join(outdir, "surveyctl.1.gz"), gzipSync(await writeManPage(), { level: 9 }));
await rm(manPage);
await copyFile(path.join(root, "src/cli/help/help-tree.schema.json"), path.join(outdir, "help.schema.json"));
// The demo looks for its customers beside the module that reads them; every chunk lies in dist itself.
await copyFile(path.join(root, "src/cli/commands/demo/demo-people.csv"), path.join(outdir, "demo-people.csv"));
const bundled = await packagesOf(chunks);
await writeFile(path.join(outdir, "THIRD-PARTY-NOTICES.txt"), await notices(bundled));
await writeFile(path.join(outdir, "sbom.json"), JSON.stringify(billOfMaterials(bundled)));

/** Leaves out what no completion is made of: half of the tree. */
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

/** The folder of the package that a file is a part of; undefined for our own files. */
function packageOf(file) {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file ?? "")?.[1];
}

/** Every package whose code is inside the bundle: its folder and its manifest. */
async function packagesOf(files) {
  const folders = files.flatMap(({ moduleIds = [] }) => moduleIds.map(packageOf)).filter((one) => one !== undefined);
  const found = await Promise.all([...new Set(folders)].map(readPackage));
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function readPackage(folder) {
  return { folder, ...JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) };
}

/** Their licence texts, each once, below the packages that it belongs to. */
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

/** What stands in the package's file of that name; some have a last section of their README in its place. */
async function licenceText(folder) {
  const files = await readdir(folder);
  const read = (file) => readFile(path.join(folder, file), "utf8");
  const licence = files.find((file) => /^licen[cs]e/i.test(file));
  if (licence !== undefined) return (await read(licence)).trim();
  const [, section = ""] = /^#+ licen[cs]e\n(.*)/ims.exec(await read("README.md")) ?? [];
  return section.trim();
}

/** npm's list of all that is installed, as CycloneDX, less what is no part of the package; the same at each build. */
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
    // For npm they are what the project is developed with; for others they are parts of it.
    components: components
      .filter(({ "bom-ref": ref }) => kept.has(ref))
      .map((one) => ({ ...one, scope: isOptional(one["bom-ref"]) ? "optional" : "required", properties: [] })),
    dependencies: dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) })),
  };
}

/** True for what npm installs beside the package on request. */
function isOptional(ref) {
  return Object.keys(manifest.optionalDependencies).some((name) => ref.startsWith(`${name}@`));
}
