import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInside } from "../helpers/in-process.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-suggestions-"));
  const folder = path.join(home, ".config/surveyctl");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const profiles = {
    prod: { base_url: "https://a.example", api_key: "a" },
    staging: { base_url: "https://b.example", api_key: "b" },
  };
  await writeFile(path.join(folder, "config.json"), JSON.stringify({ default_profile: "prod", profiles }), {
    mode: 0o600,
  });
  await writeFile(path.join(home, "people.csv"), "emial,plan\na@example.com,pro\n");
  await writeFile(path.join(home, "names.csv"), "email,nmae\na@example.com,Ada\n");
});
afterAll(() => rm(home, { recursive: true, force: true }));

it.each<[string, string, string]>([
  ["a topic", "help exprot", "hint: did you mean export?"],
  ["a global flag", "people list --colums id", "hint: did you mean --columns?"],
  ["a value", "people list -o jsn", "hint: did you mean json?"],
  ["one of several values", "metrics --group core,emial", "hint: did you mean email?"],
  ["an operand", "completion bsh", "hint: did you mean bash?"],
  ["a method", "api GTE /v1/metrics.json", "hint: did you mean GET?"],
  ["a column", "people list --columns id,emial", "hint: did you mean email?"],
  [
    "a column that a path reaches into",
    "responses list --columns person_propertes.plan",
    "hint: did you mean person_properties.plan?",
  ],
  ["an object that a path reaches into", "responses list --columns persn.email", "hint: did you mean person.email?"],
  ["a field of an assertion", "metrics --assert nsp>=40", "hint: did you mean nps?"],
  [
    "a header that names the person",
    "people import people.csv --dry-run",
    'hint: map the columns: --map "emial=email"',
  ],
  [
    "a profile",
    "people list --profile stagin",
    "hint: did you mean staging? available profiles: prod, staging, local; to create one: surveyctl auth login --profile stagin",
  ],
  ["a profile to use", "auth use prd", "hint: did you mean prod? available profiles: prod, staging"],
])("when %s is mistyped, then the nearest is named", async (_, line, hint) => {
  const { status, stderr } = await runInside({ args: line.split(" "), home, cwd: home });
  expect([status === 0, stderr.trim().split("\n").at(-1)]).toEqual([false, hint]);
});

it("when nothing is near, then what there is is listed and nothing guessed", async () => {
  const { stderr } = await runInside({ args: ["auth", "use", "zzz"], home });
  expect(stderr).toBe('error: there is no profile "zzz"\nhint: available profiles: prod, staging\n');
});

it.each([
  ["people list --state held", "surveyctl people list --help shows its usage and flags"],
  ["metrics --name Ada", "surveyctl metrics --help shows its usage and flags"],
])("when %s has a flag that only looks like another by its length, then none is guessed", async (line, hint) => {
  const { stderr } = await runInside({ args: line.split(" "), home });
  expect(stderr.trim().split("\n").at(-1)).toBe(`hint: ${hint}`);
});

it.each([
  ["pt-BRR", "pt-BR"],
  ["zh_TW", "zh-TW"],
  ["de-AT", "de"],
])("when the locale is %s, then %s is named", async (locale, nearest) => {
  const { stderr } = await runInside({
    args: ["people", "add", "--email", "a@example.com", "--locale", locale, "--dry-run"],
    home,
  });
  expect(stderr).toBe(
    `warning: --locale: "${locale}" is not a supported locale; the survey falls back to en; did you mean ${nearest}?\n`,
  );
});

it("when a header is near a column, then a note asks", async () => {
  const { stderr } = await runInside({ args: ["people", "import", "names.csv", "--dry-run"], home, cwd: home });
  expect(stderr.split("\n")[0]).toBe('note: "nmae" will be imported as a property; to map it: --map "nmae=name"');
});
