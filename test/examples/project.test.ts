import { expect, it } from "vitest";
import { PARTS, wrongExamples } from "./type-examples.ts";

it("examples of service commands that set up a project end as promised", async () => {
  expect(await wrongExamples(PARTS.project)).toEqual([]);
}, 120_000);
