import { expect, test } from "vitest";
import { toBrand } from "../../../../src/service/domain/projects/brand.ts";

const linkOf = (color: string) => toBrand(new Map([["brand_color", color]])).accent?.link;

/** WCAG 2.2 contrast ratio. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.each([
  ["#0a2a5e", { light: "#0a2a5e", dark: "#8595af" }],
  ["#ffd23f", { light: "#806920", dark: "#ffd23f" }],
  ["#00aa77", { light: "#008059", dark: "#00aa77" }],
  ["#000000", { light: "#000000", dark: "#8c8c8c" }],
  ["#ffffff", { light: "#666666", dark: "#ffffff" }],
])("when the colour is %s, then links are as near to it as can be read", (color, expected) => {
  expect(linkOf(color)).toEqual(expected);
});

test("when a colour is allowed, then its links can be read on every ground of pages and mail", () => {
  const parts = ["00", "33", "66", "99", "cc", "ff"];
  const colors = parts.flatMap((red) => parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)));
  const links = colors.flatMap((color) => linkOf(color) ?? []);
  const unreadable = links.filter(
    ({ light, dark }) =>
      ["#ffffff", "#f3f4f6", "#f3f5f8"].some((ground) => contrast(light, ground) < 4.5) ||
      ["#1b2026", "#111519", "#1f252c", "#14181d"].some((ground) => contrast(dark, ground) < 4.5),
  );
  expect([links.length > 150, unreadable]).toEqual([true, []]);
});
