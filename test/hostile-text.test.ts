/** Hostile text must be read in linear time. */
import { expect, test } from "vitest";
import { createEncoder } from "../src/cli/render/encoders.ts";
import { list, readYaml, text as yamlText, texts } from "../src/cli/commands/service/apply/yaml-reader.ts";
import { readWords } from "../src/client/answer/words.ts";
import { maskPersonalData } from "../src/client/trace/trace.ts";
import { readStatus } from "../src/service/delivery/bounce/report-fields.ts";
import { maskReply } from "../src/service/delivery/mail/parse-reply.ts";
import { brandProblems } from "../src/service/domain/projects/brand.ts";
import { growthOf, LINEAR_MAX } from "./helpers/growth.ts";
import { isLong } from "./helpers/long.ts";

function many(text: string, size: number): string {
  return text.repeat(Math.ceil(size / text.length));
}

const toNdjson = (text: string): unknown => {
  const options = { format: "ndjson", columns: null, time: null, zone: null, now: 0, stringify: null } as const;
  return createEncoder(options).rows({ rows: [JSON.parse(text) as never], text: `[${text}]` });
};

/** A logo is small, so it is read several times. */
function readLogo(text: string): void {
  for (let times = 0; times < 8; times += 1) brandProblems({ logo: Buffer.from(text) });
}

test.runIf(isLong).each<[string, (size: number) => unknown]>([
  ["a page of unclosed tags instead of an answer", (size) => readWords(`<html>${many("<", size)}`)],
  ["a page of unclosed titles", (size) => readWords(`<html>${many("<title", size)}`)],
  ["a page of unclosed scripts", (size) => readWords(`<html>${many("<script ", size)}`)],
  ["a comment of spaces in an indented row", (size) => toNdjson(`{\n"comment":"${many(" ", size)}"}`)],
  ["a comment of field names in a trace", (size) => maskPersonalData(`{"comment":1,"${many("name", size)}":1}`)],
  ["brackets in the status of a report", (size) => readStatus(`Action: failed\nStatus: ${many("(", size)}`)],
  ["a long word in the reply of a server", (size) => maskReply(many("a", size))],
  ["comments before a logo's picture", (size) => readLogo(many("<!---->", Math.min(size, 900)))],
  ["a logo's style of spaces", (size) => readLogo(`<svg><style>url(${many(" ", Math.min(size, 32_000))})`)],
])("%s", (_, read) => {
  expect(growthOf((size) => void read(size))).toBeLessThan(LINEAR_MAX);
});

const lines = (write: (at: number) => string): string =>
  Array.from({ length: 40_000 }, (_, at) => write(at)).join("\n");

function cpuOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return user + system;
}

test("a settings file of 40,000 keys takes about as long as one of 40,000 items", () => {
  const [keys, items] = [lines((at) => `k${at}: a`), lines((at) => `- k${at} a`)];
  const ofItems = cpuOf(() => void readYaml("f.yaml", items, list(yamlText)));
  expect(cpuOf(() => void readYaml("f.yaml", keys, texts))).toBeLessThan(8 * ofItems);
});
