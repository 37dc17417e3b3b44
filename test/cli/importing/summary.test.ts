import { expect, it } from "vitest";
import { resumeCommand } from "../../../src/cli/importing/summary.ts";

it.each([
  [["people", "import", "a.csv", "--send"], ["--resume"], "surveyctl people import a.csv --send --resume"],
  [["people", "import", "--resume", "a.csv"], ["--resume"], "surveyctl people import a.csv --resume"],
  [
    ["people", "import", "a.csv", "--resume", "--retry-unknown"],
    ["--resume", "--retry-unknown"],
    "surveyctl people import a.csv --resume --retry-unknown",
  ],
  [["people", "import", "--send", "--", "-a.csv"], ["--resume"], "surveyctl people import --send --resume -- -a.csv"],
  [
    ["people", "import", "it's.csv", "--map", "E Mail=email"],
    ["--resume"],
    `surveyctl people import 'it'\\''s.csv' --map 'E Mail=email' --resume`,
  ],
])("when %j stopped, then %j go where a shell and the program take them", (words, flags, expected) => {
  expect(resumeCommand(words, flags)).toBe(expected);
});
