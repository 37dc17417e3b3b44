import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isLong } from "../helpers/long.ts";
import { ROOT, runTool } from "./deploy-files.ts";

const BYTES_MAX = 3_120_000;

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface Bill {
  readonly components: readonly { readonly name: string; readonly version: string; readonly scope: string }[];
}

const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");
const manifest = JSON.parse(read("package.json")) as Manifest;

function sorted(names: Iterable<string>): string[] {
  return [...new Set(names)].toSorted();
}

function pack(...args: readonly string[]): Packed {
  const { status, stdout, said } = runTool("npm", ["pack", "--json", "--ignore-scripts", ...args], ROOT);
  if (status !== 0) throw new Error(said);
  // npm may announce a newer npm on stderr.
  const [packed] = JSON.parse(stdout) as [Packed];
  return packed;
}

describe("the package", () => {
  it("needs nothing but SQLite for Node 20, and runs nothing when it is installed", () => {
    expect(manifest.dependencies).toBeUndefined();
    expect(Object.keys(manifest.optionalDependencies)).toEqual(["@photostructure/sqlite"]);
    // npm also runs "prepare" for packages that don't come from a registry.
    expect(Object.keys(manifest.scripts).filter((name) => /install$|^prepare$/.test(name))).toEqual([]);
  });

  it("holds the program, its notices and what it is made of, and is small", () => {
    const { files, unpackedSize } = pack("--dry-run");
    const names = files.map((file) => file.path);
    const rest = names.filter((name) => !/^dist\/[\w.-]+$/.test(name));
    expect(rest.toSorted()).toEqual(["LICENSE", "README.md", "bin/surveyctl.js", "package.json"]);
    const wanted = ["main.js", "surveyctl.1.gz", "THIRD-PARTY-NOTICES.txt", "sbom.json"].map((name) => `dist/${name}`);
    expect(names).toEqual(expect.arrayContaining(wanted));
    expect(names).not.toContain("dist/modules.json");
    expect(unpackedSize).toBeLessThanOrEqual(BYTES_MAX);
  });

  it("names each package whose code is in it, with its licence, in the notices and in the bill of materials", () => {
    const modules = Object.values(JSON.parse(read("dist/modules.json")) as Record<string, string[]>).flat();
    const bundled = modules.flatMap((file) => /^\0?.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
    const { components } = JSON.parse(read("dist/sbom.json")) as Bill;
    const required = components.filter(({ scope }) => scope === "required");
    const noticed = read("dist/THIRD-PARTY-NOTICES.txt").matchAll(/^(?:@[\w-]+\/)?[\w-]+ [\d.]+(?= \()/gm);
    expect(sorted(required.map(({ name }) => name))).toEqual(sorted(bundled));
    expect(sorted(required.map(({ name, version }) => `${name} ${version}`))).toEqual(
      sorted([...noticed].map(([name]) => name)),
    );
    const optional = components.filter(({ scope }) => scope === "optional");
    expect(optional.map(({ name }) => name)).toEqual(Object.keys(manifest.optionalDependencies));
  });

  it("has the text of each licence, with its copyright", () => {
    const sections = read("dist/THIRD-PARTY-NOTICES.txt").split(`\n${"-".repeat(78)}\n\n`);
    const without = sections.filter((section) => !/^.*\n\n.*copyright/is.test(section));
    expect([sections.length > 1, without.map((section) => section.split("\n")[0])]).toEqual([true, []]);
  });

  it.runIf(isLong)("runs where it was installed without a network", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-package-"));
    try {
      const { filename } = pack("--pack-destination", folder);
      const install = ["install", "--offline", "--no-audit", "--no-fund", path.join(folder, filename)];
      expect(runTool("npm", ["--prefix", folder, ...install], folder)).toMatchObject({ status: 0 });
      const program = path.join(folder, "node_modules/.bin/surveyctl");
      const { version } = JSON.parse(read("package.json")) as { readonly version: string };
      expect(runTool(program, ["--version"], folder)).toEqual({ status: 0, said: `${version}\n` });
      const added = runTool(program, ["service", "key", "list", "--data", path.join(folder, "none.db")], folder);
      expect(added.said).toContain("none.db");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
