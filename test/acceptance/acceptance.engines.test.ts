import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import { tellStories } from "../helpers/stories.ts";
import { parseStory, runStory } from "../helpers/story.ts";

tellStories(import.meta.dirname);

test("when there is a folder of stories, then a test of its own tells them", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const untold = folders.filter(
    ({ name }) => !existsSync(path.join(import.meta.dirname, name, `${name}.engines.test.ts`)),
  );
  expect([untold.map(({ name }) => name), folders.length > 5]).toEqual([[], true]);
});

describe("a story that is not true", () => {
  it.each([
    ["a wrong status", "$ exit 3\nstatus 2", /status 3, not 2/],
    ["output that nobody named", "$ echo hello", /stdout is not:/],
    ["a line that differs", "$ echo hello\n> hallo", /stdout is not:\nhallo/],
    ["a line too many", "$ printf 'a\\nb\\n'\n> a", /stdout is not:\na/],
    ["a pattern that is not there", "$ echo hello >&2\nstderr /goodbye/", /stderr does not match/],
    ["a pattern that must not be there", "$ echo hello\nstdout /hello/\n! stdout /ell/", /stdout matches/],
    ["a key that is shown", "env SURVEYCTL_API_KEY=hidden\n$ echo hidden\n> hidden", /the key is shown/],
  ])("when it has %s, then it fails", async (_, script, complaint) => {
    await expect(runStory(parseStory(script))).rejects.toThrow(complaint);
  });

  it("when a line is none of the language, then its number is said", () => {
    expect(() => parseStory("# a story\nnonsense\n")).toThrow("line 2: not a line of a story: nonsense");
  });
});

it.each([
  [
    "files, standard input and any text",
    "$ cat a.txt; cat\n< typed\n> at [..] o'clock\n> typed\n-- a.txt --\nat ten o'clock\n",
  ],
  ["a terminal of 80 columns", "tty$ test -t 1 && stty size\n> 40 80\n"],
  ["the variables that it sets", "env A=b c\n$ printenv A\n> b c\n"],
])("when a story runs, then it has %s", async (_, script) => {
  await expect(runStory(parseStory(script))).resolves.toBeUndefined();
});
