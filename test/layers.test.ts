import { describe, expect, it, test } from "vitest";
import { breaches } from "./helpers/layer-rules.ts";
import { readSources } from "./helpers/source-code.ts";

test("when every import of src is read, then none breaks a rule of the house", () => {
  expect(breaches(readSources("src"))).toEqual([]);
});

const example = (files: Record<string, string>): string[] => breaches(new Map(Object.entries(files)));

describe("the rules themselves", () => {
  it.each<[string, Record<string, string>, string[]]>([
    [
      "an arrow against the table",
      { "src/contract/a.ts": 'import { b } from "../client/b.ts";', "src/client/b.ts": "export const b = 1;" },
      ["src/contract/a.ts (contract) may not import src/client/b.ts (client)"],
    ],
    [
      "the two ends of the wire meeting",
      {
        "src/client/a.ts": 'export * from "../service/domain/b.ts";',
        "src/service/domain/b.ts": "export const b = 1;",
      },
      ["src/client/a.ts (client) may not import src/service/domain/b.ts (service/domain)"],
    ],
    [
      "a type-only arrow",
      { "src/bulk/a.ts": 'import type { B } from "../client/b.ts";', "src/client/b.ts": "export type B = 1;" },
      ["src/bulk/a.ts (bulk) may not import src/client/b.ts (client)"],
    ],
    [
      "an inline type arrow",
      { "src/bulk/a.ts": 'export type A = import("../client/b.ts").B;', "src/client/b.ts": "export type B = 1;" },
      ["src/bulk/a.ts (bulk) may not import src/client/b.ts (client)"],
    ],
    [
      "a dynamic arrow",
      {
        "src/config/a.ts": 'export const a = () => import("../cli/program.ts");',
        "src/cli/program.ts": "export const b = 1;",
      },
      ["src/config/a.ts (config) may not import src/cli/program.ts (cli/program)"],
    ],
    [
      "a computed import",
      { "src/config/a.ts": "export const a = (name: string) => import(name);" },
      ["src/config/a.ts imports a computed name"],
    ],
    ["a file without a home", { "src/utils/a.ts": "" }, ["src/utils/a.ts lies in no layer"]],
    [
      "a file that is not there",
      { "src/bulk/a.ts": 'import "./b.ts";' },
      ["src/bulk/a.ts imports src/bulk/b.ts, which is not there"],
    ],
    [
      "source that leaves src",
      { "src/bulk/a.ts": 'import "../../test/b.ts";' },
      ["src/bulk/a.ts leaves src for test/b.ts"],
    ],
    [
      "node in the contract",
      { "src/contract/a.ts": 'import "node:fs";' },
      ["src/contract/a.ts is contract and may not import node:fs"],
    ],
    [
      "commander below cli",
      { "src/bulk/a.ts": 'import "commander";' },
      ["src/bulk/a.ts may not import commander outside cli"],
    ],
    [
      "a second door to undici",
      { "src/client/a.ts": 'import "undici";', "src/client/b.ts": 'import "undici/lib/dispatcher/pool.js";' },
      ["undici is imported in 2 modules: src/client/a.ts, src/client/b.ts"],
    ],
    [
      "the global process",
      { "src/config/a.ts": "export const home = process.env.HOME;" },
      ["src/config/a.ts uses process.env"],
    ],
    [
      "the process module",
      { "src/config/a.ts": 'import process from "node:process";' },
      ["src/config/a.ts may not import node:process"],
    ],
    [
      "the process of globalThis",
      { "src/cli/main.ts": "globalThis.process;" },
      ["src/cli/main.ts uses globalThis.process"],
    ],
    ["the clock", { "src/client/a.ts": "export const now = Date.now;" }, ["src/client/a.ts uses Date.now"]],
    ["the clock by another name", { "src/client/a.ts": 'Date["now"]();' }, ["src/client/a.ts uses Date.now"]],
    ["the current date", { "src/client/a.ts": "export const now = new Date();" }, ["src/client/a.ts uses new Date()"]],
    ["chance", { "src/client/a.ts": "Math.random();" }, ["src/client/a.ts uses Math.random"]],
    ["a timer", { "src/client/a.ts": "setTimeout(() => {}, 1);" }, ["src/client/a.ts uses setTimeout"]],
    [
      "a flag in the words of a lower layer",
      { "src/client/a.ts": 'export const hint = "--max-wait allows longer waits";' },
      ["src/client/a.ts names --max-wait, which cli knows alone"],
    ],
    [
      "a command in the words of a lower layer",
      { "src/service/a.ts": "export const hint = (name: string) => `${name}: surveyctl auth login helps`;" },
      ["src/service/a.ts names surveyctl auth, which cli knows alone"],
    ],
    [
      "a timer's module",
      { "src/client/a.ts": 'import "node:timers/promises";' },
      ["src/client/a.ts may not import node:timers/promises outside runtime"],
    ],
  ])("when there is %s, then it is named", (_, files, complaints) => {
    expect(example(files)).toEqual(complaints);
  });

  it("when source keeps to the rules, then nothing is said", () => {
    const files = {
      "src/contract/a.ts": "// process.exit, Date.now() and new Date() in a comment\nexport const a = 'Math.random()';",
      "src/runtime/b.ts": "export const now = () => Date.now() + Math.random(); setTimeout(now, 1); new Date();",
      "src/client/c.ts":
        'import { a } from "../contract/a.ts"; import { Pool } from "undici"; export const c = [a, Pool, new Date(0)];',
      "src/cli/main.ts": 'import "./program.ts"; export const env = process.env;',
      "src/cli/program.ts":
        'import "./commands/people/list.ts"; export const run = (process: { argv: string[] }) => process.argv;',
      "src/service/page/style.ts": "export const style = `:root{\n--ink:#123}body{color:var(--ink)}`;",
      "src/cli/commands/people/list.ts":
        'import { Command } from "commander"; export const c = () => import("../../../client/c.ts");',
    };
    expect(example(files)).toEqual([]);
  });
});
