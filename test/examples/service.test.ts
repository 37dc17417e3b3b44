import { expect, it } from "vitest";
import { PARTS, wrongExamples } from "./type-examples.ts";

it("examples of the other service commands end as promised", async () => {
  expect(await wrongExamples(PARTS.service)).toEqual([]);
}, 120_000);
