import { expect, it } from "vitest";
import { OTHER_WORDS } from "../../../src/cli/program/usage-problems.ts";
import { readCommands } from "../../helpers/command-tree.ts";
import { runInProcess } from "../../helpers/in-process.ts";

it.each([
  ["login", "auth login"],
  ["logout", "auth logout"],
  ["status", "auth status"],
  ["whoami", "auth status"],
  ["--json whoami", "auth status"],
  ["doctor", "service delivery doctor"],
  ["service doctor", "service delivery doctor"],
  ["pause", "service pause"],
  ["keys", "service key list"],
  ["service keys", "service key list"],
  ["nps", "metrics"],
  ["score", "metrics"],
  ["import customers.csv", "people import customers.csv"],
  ["import ./more/customers.csv", "people import ./more/customers.csv"],
  ["import - --dry-run", "people import -"],
  ["search", "responses list --search TEXT"],
  ["view", "people show"],
  ["create", "people add"],
  ["edit", "people update"],
  ["rm", "people delete"],
  ["responses search", "responses list --search TEXT"],
])("when %s is typed, then %s is named", async (line, meant) => {
  const args = line.split(" ");
  const { status, stdout, stderr } = await runInProcess({ args: args.filter((word) => word !== "--json") });
  const typed = args.filter((word) => !word.startsWith("--")).join(" ");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^error: unknown command "[^"]+"; use: surveyctl .+\n$/);
  expect([typed.startsWith(/"([^"]+)"/.exec(stderr)?.[1] ?? "-"), stderr.split("surveyctl ")[1]]).toEqual([
    true,
    `${meant}\n`,
  ]);
});

it("when a word of another tool leads on, then to a command that there is, and is none itself", async () => {
  const names = (await readCommands()).map(({ name }) => name);
  const unknown = [...OTHER_WORDS.values()]
    .map((line) => line.replace(/ -.*/, ""))
    .filter((name) => !names.includes(name));
  expect([unknown, names.filter((name) => OTHER_WORDS.has(name))]).toEqual([[], []]);
});

it("when help is asked for such a word, then it leads on too", async () => {
  const { status, stderr } = await runInProcess({ args: ["help", "login"] });
  expect([status, stderr]).toEqual([2, 'error: unknown command "login"; use: surveyctl auth login\n']);
});
