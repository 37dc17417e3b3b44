import { expect, it } from "vitest";
import { PARTS, wrongExamples } from "./type-examples.ts";

it("examples of the client's commands end as promised", async () => {
  expect(await wrongExamples(PARTS.client)).toEqual([]);
}, 120_000);
