import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseStory, runStory } from "./story.ts";

/** Registers a test for each story of one folder of test/acceptance, and one that there are stories at all. */
export function tellStories(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  it("when the folder is listed, then there are stories", () => {
    expect(names).not.toEqual([]);
  });
  describe("stories", () => {
    it.each(names.toSorted())("%s", async (name) => {
      const story = parseStory(readFileSync(path.join(folder, name), "utf8"));
      await expect(runStory(story)).resolves.toBeUndefined();
    });
  });
}
