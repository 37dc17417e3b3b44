import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it, test } from "vitest";
import { recipesOf, type Tree, writeLlmsTxt, writeSkill } from "./helpers/agent-pages.ts";
import { commandsOf } from "./helpers/command-tree.ts";
import { runInProcess } from "./helpers/in-process.ts";
import { closed, wrongForm } from "./helpers/json-form.ts";
import { startServe } from "./helpers/serve.ts";

const root = path.join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const readme = read("README.md");
const PAGES = [...readme.matchAll(/^\| \[(docs\/[\w-]+\.md)\]\(\1\) \| (.+) \|$/gm)].map(
  ([, file = "", text = ""]) => [file, text] as const,
);

let json = "";
let tree: Tree;
beforeAll(async () => {
  json = (await runInProcess({ args: ["help", "--json"] })).stdout;
  tree = JSON.parse(json) as Tree;
});

test("when its help changes, then the skill and llms.txt do too (npm run docs rewrites them)", async () => {
  await expect(writeSkill(tree, readme)).toMatchFileSnapshot("../skills/surveyctl/SKILL.md");
  await expect(writeLlmsTxt(tree, PAGES)).toMatchFileSnapshot("../llms.txt");
});

test("when a command line stands in them, then it is a recipe's or an example's, which tests run", () => {
  const examples = new Set(commandsOf(json).flatMap((command) => command.examples));
  const recipes = new Set(recipesOf(readme).flatMap((recipe) => recipe.split("\n")));
  const blocks = [...read("skills/surveyctl/SKILL.md").matchAll(/^```sh\n(.*?)^```/gms)];
  const lines = blocks.flatMap(([, block = ""]) => block.trimEnd().split("\n"));
  const named = [...read("llms.txt").matchAll(/Example: `(.+)`$/gm)].map(([, line = ""]) => line);
  expect(lines.length).toBeGreaterThan(20);
  expect([...lines, ...named].filter((line) => !examples.has(line) && !recipes.has(line))).toEqual([]);
});

async function schemaOf(...words: string[]): Promise<object> {
  const { stdout } = await runInProcess({ args: ["help", ...words, "--json"] });
  return (JSON.parse(stdout) as { readonly output_schema: object }).output_schema;
}

describe("help --json", () => {
  it("when commands print JSON, then their schemas, which help --json has as well, name every key", async () => {
    const served = await startServe();
    try {
      const [person, changes] = [["ada@example.com"], ["--since", "30d", "--compare", "previous"]];
      const segments = ["--segment", "plan", "--min-n", "1"];
      const lines: readonly (readonly [string, readonly string[]])[] = [
        ["people add", ["--email", "ada@example.com", "--no-send"]],
        ["people list", []],
        ["people get", person],
        ["responses add", ["--email", "ada@example.com", "--score", "9", "--property", "plan=pro"]],
        ["responses add", ["--email", "ada@example.com", "--score", "3", "--created-at", "40d"]],
        ["responses list", []],
        ["responses list", ["--expand", "person"]],
        ["responses list", ["--expand", "notes"]],
        ["responses get", ["ID"]],
        ["responses show", ["ID"]],
        ["responses export", []],
        ["metrics", []],
        ["metrics", ["--raw"]],
        ["metrics", changes],
        ["metrics", ["--by", "month", "--since", "2026-01"]],
        ["metrics", ["--by", "month", "--compare", "previous"]],
        ["metrics", ["--histogram"]],
        ["metrics", segments],
        ["metrics", [...segments, ...changes]],
        ["metrics", [...segments, ...changes, "--explain-change"]],
        ["autopilot add", ["--email", "bob@example.com"]],
        ["autopilot list", []],
        ["autopilot export", []],
        ["people show", ["bob@example.com"]],
        ["service rehearse", ["--until", "120d", ...served.place]],
        ["service rehearse", ["--until", "120d", "--by", "person", ...served.place]],
        ["autopilot remove", ["--email", "bob@example.com", "--yes"]],
        ["auth status", []],
        ["service key add", ["--read-only", ...served.place]],
        ["service key list", [...served.place]],
        ["service share add", ["Board", "--segment", "plan", ...served.place]],
        ["service share list", [...served.place]],
        ["service project list", [...served.place]],
        ["service delivery status", [...served.place]],
        ["service digest list", [...served.place]],
      ];
      let id = "";
      for (const [command, words] of lines) {
        const validate = new Ajv2020({ allowUnionTypes: true }).compile(closed(await schemaOf(...command.split(" "))));
        const given = words.map((word) => (word === "ID" ? id : word));
        const { stdout, status } = await served.run([...command.split(" "), ...given, "--json"]);
        const printed = JSON.parse(stdout) as { readonly id?: string };
        if (command === "responses add") id = printed.id ?? "";
        expect([command, status, validate(printed), validate.errors]).toEqual([command, 0, true, null]);
        expect(json).toContain(`"title": "surveyctl ${command} -o json"`);
      }
    } finally {
      await served.stop();
    }
  }, 60_000);

  it("when a story's JSON does not keep to its schema, then the story fails", async () => {
    const [wrong = ""] = await wrongForm("surveyctl people list --json", '[{"id":{}}]');
    expect(wrong).toContain("stdout does not keep to the schema of the command");
    expect(await wrongForm("surveyctl people list --json", '[{"id":"1"}]')).toEqual([]);
    const [unknown = ""] = await wrongForm("surveyctl autopilot list --json", '[{"person_email":"a@x.co"}]');
    expect(unknown).toContain("must NOT have additional properties");
  });

  it("prints one command, as the tree has it", async () => {
    const { stdout } = await runInProcess({ args: ["help", "--json", "person", "ls"] });
    const people = tree.commands.find(({ name }) => name === "people");
    expect(JSON.parse(stdout)).toEqual(people?.commands.find(({ name }) => name === "list"));
    expect(JSON.parse((await runInProcess({ args: ["help", "people", "--json"] })).stdout)).toEqual(people);
  });

  it("is available for nouns that are topics too", async () => {
    const { stdout } = await runInProcess({ args: ["help", "import", "--json"] });
    expect(JSON.parse(stdout)).toMatchObject({ name: "imports" });
  });

  it.each([
    [["people", "lst"], 'error: unknown command "people lst"\nhint: did you mean list?\n'],
    [["peple"], 'error: unknown command or topic "peple"\nhint: did you mean people?\n'],
    [["exit-codes"], "error: help: the topic exit-codes is not available as JSON\n"],
  ])("says what is wrong with %j", async (words, said) => {
    const { status, stdout, stderr } = await runInProcess({ args: ["help", ...words, "--json"] });
    expect([status, stdout]).toEqual([2, ""]);
    expect((JSON.parse(stderr) as { error: { message: string; hint: string | null } }).error).toMatchObject({
      message: said.split("\n")[0]?.replace("error: ", ""),
      hint: said.split("hint: ")[1]?.trim() ?? null,
    });
  });
});
