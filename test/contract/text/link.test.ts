import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatNextLink, mayNameNext, parseNextLink } from "../../../src/contract/text/link.ts";

/** Characters of paths and queries (RFC 3986, section 3), including commas and semicolons. */
const PART = fc.array(fc.constantFrom(..."aZ09-._~!$&'()*+,;=:@/?".split(""), "%2C", "%3B", "%3E", "%20", "%E2%82%AC"));
const URLS = fc
  .tuple(fc.constantFrom("https://api.example.com", "http://[::1]:8080"), PART, PART)
  .map(([origin, path, query]) => `${origin}/${path.join("")}?${query.join("")}`);

describe("the Link header", () => {
  it("when any URL is written and read back, then it leads to the same place", () => {
    fc.assert(
      fc.property(URLS, (url) => {
        const read = parseNextLink(formatNextLink(url)) ?? "";
        expect(decodeURIComponent(new URL(read).search)).toBe(decodeURIComponent(new URL(url).search));
        expect(new URL(read).host).toBe(new URL(url).host);
      }),
    );
  });

  it("when clients split the header on commas and semicolons, then the URL stays whole", () => {
    fc.assert(
      fc.property(URLS, (url) => {
        const [entry = "", ...others] = formatNextLink(url).split(",");
        expect([others, entry.split(";").length]).toEqual([[], 2]);
      }),
    );
  });

  it("when any text arrives as a header, then reading it never throws", () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const next = parseNextLink(header);
        expect(next === null || typeof next === "string").toBe(true);
      }),
    );
  });

  it("when a long hostile header arrives, then it is read in linear time", () => {
    expect(parseNextLink(`<${";".repeat(50_000)}>${"; a=b".repeat(50_000)}`)).toBeNull();
  });

  it.each([
    [
      "the specification's form",
      '<https://a.test/v1/people.json?page_info=1>; rel="next"',
      "https://a.test/v1/people.json?page_info=1",
    ],
    ["a bare relation", "<https://a.test/2>; rel=next", "https://a.test/2"],
    ["several entries", '<https://a.test/0>; rel="prev", <https://a.test/2>; rel="next"', "https://a.test/2"],
    ["several relations", '<https://a.test/9>; rel="last next"', "https://a.test/9"],
    ["other parameters around", '<https://a.test/2>; title="a, b; c"; REL="Next"; x=y', "https://a.test/2"],
    ["a relative target", '</v1/people.json?page_info=1>; rel="next"', "/v1/people.json?page_info=1"],
    ["no next", '<https://a.test/0>; rel="prev"', null],
    ["a next inside another parameter", '<https://a.test/0>; title="rel=next"', null],
    ["a relation between single quotes", "<https://a.test/2>; rel='next'", "https://a.test/2"],
    ["several between single quotes", "<https://a.test/2>;rel='last next';x", "https://a.test/2"],
    ["a semicolon too many", '<https://a.test/2>;; rel="next";', "https://a.test/2"],
    [
      "a relation inside a title before it",
      '<https://a.test/2>; title="; rel=\\"prev\\""; rel="next"',
      "https://a.test/2",
    ],
    ["a second relation parameter", '<https://a.test/2>; rel="prev"; rel="next"', null],
    ["a comma too many", ', <https://a.test/2>; rel="next",', "https://a.test/2"],
    ["nothing", "", null],
  ])("when there is %s, then it is read", (_, header, expected) => {
    expect(parseNextLink(header)).toBe(expected);
  });

  it.each([
    ["no brackets", '/v1/people.json?page_info=1; rel="next"', true],
    ["a bracket that never closes", '</v1/people.json?page_info=1; rel="next"', true],
    ["a quote that never closes", '<https://a.test/2>; rel="next', true],
    ["an end in the middle", "<https://a.test/0>; rel=prev, ; rel = last next", true],
    ["no next", '<https://a.test/0>; rel="prev"', false],
    ["a next inside another parameter", '<https://a.test/0>; title="rel=next"', false],
    ["a next inside a target", '<https://a.test/?rel=next>; rel="prev"', false],
    ["a relation of another name", '<https://a.test/0>; rel="https://a.test/rel/next"', false],
    ["a relation that only begins so", "<https://a.test/0>; rel=next-archive", false],
    ["nothing", "", false],
  ])("when there is %s, then it is told whether a next page is named", (_, header, expected) => {
    expect([parseNextLink(header), mayNameNext(header)]).toEqual([null, expected]);
  });
});
