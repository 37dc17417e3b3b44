import { expect, it } from "vitest";
import { drawKinds, drawShare } from "../../../src/insight/report/bars.ts";

function partsOf(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/<rect(?: class="([^"]*)")?(?: x="([^"]*)")? width="([^"]*)"/g)].map((part) =>
    part.slice(1),
  );
}

it("when answers are of each kind, then a bar has three parts, detractors first", () => {
  const { text } = drawKinds({ detractors: 1, passives: 0, promoters: 2 });
  expect(partsOf(text)).toEqual([
    ["detractor", "0", "33.33"],
    ["passive", "33.33", "0"],
    ["promoter", "33.33", "66.67"],
  ]);
  expect(text).toContain('aria-hidden="true"');
});

it("when it draws a share, then that much of its width is filled", () => {
  expect(partsOf(drawShare(0.2).text)).toEqual([
    ["rest", undefined, "100"],
    [undefined, undefined, "20"],
  ]);
});
