import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isInstalled } from "./installed.ts";
import { onPostgres } from "./postgres.ts";
import { parseStory, runStory } from "./story.ts";

/** Registers a test per story of a folder in test/acceptance. */
export function tellStories(folder: string): void {
  // Stories without a server don't depend on the store.
  const isAbout = (name: string): boolean =>
    !onPostgres || /^serve\b/m.test(readFileSync(path.join(folder, name), "utf8"));
  const names = readdirSync(folder).filter((name) => name.endsWith(".txt") && isAbout(name));
  it("when the folder is listed, then there are stories", () => {
    expect(names).not.toEqual([]);
  });
  describe("stories", () => {
    for (const name of names.toSorted()) {
      const story = parseStory(readFileSync(path.join(folder, name), "utf8"));
      const missing = story.needs.filter((program) => !isInstalled(program));
      const where = missing.length === 0 ? "" : ` (runs where ${missing.join(" and ")} is installed)`;
      it.skipIf(missing.length > 0)(`${name}${where}`, async () => {
        await expect(runStory(story)).resolves.toBeUndefined();
      });
    }
  });
}
