import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInProcess } from "../helpers/in-process.ts";

let folder: string;
let data: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "surveyctl-given-"));
  data = path.join(folder, "survey.db");
  execFileSync("mkfifo", [path.join(folder, "pipe")]);
  writeFileSync(path.join(folder, "large"), Buffer.alloc(1024 * 1024 + 1, "a"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SERVE = ["serve", "--port", "0"];
const MAIL = [...SERVE, "--smtp-from", "survey@example.com", "--local-links"];

const PLACES: readonly (readonly string[])[] = [
  ["service", "apply", "FILE"],
  ["service", "brand", "set", "--logo", "FILE"],
  ["service", "bounce", "hook", "--mailgun-key", "FILE"],
  ["service", "bounce", "hook", "--postmark-login", "FILE"],
  ["service", "bounce", "hook", "--sendgrid-key", "FILE"],
  ["service", "sms", "hook", "--twilio-token", "FILE"],
  ["service", "sms", "hook", "--vonage-secret", "FILE"],
  ["service", "sms", "hook", "--telnyx-key", "FILE"],
  ["service", "key", "list", "--database-file", "FILE"],
  [...SERVE, "--smtp-file", "FILE"],
  [...MAIL, "--smtp", "smtp://127.0.0.1:1?ca=FILE"],
  [...MAIL, "--smtp", "smtp://127.0.0.1:1", "--dkim-selector", "x", "--dkim-key", "FILE"],
  [...SERVE, "--tls-cert", "FILE", "--tls-key", "FILE"],
  [...SERVE, "--metrics-token-file", "FILE"],
  [...SERVE, "--sms-gateway", "https://sms.example.com", "--sms-from", "+15550001111", "--sms-header-file", "FILE"],
  ["api", "POST", "/v1/people.json", "--input", "FILE"],
  ["api", "POST", "/v1/people.json", "-F", "properties=@FILE"],
  ["people", "add", "--email", "ann@example.com", "--no-send", "--properties", "@FILE"],
];
/** Files of rows have no size limit. */
const STREAMED: readonly (readonly string[])[] = [
  ["people", "import", "FILE", "--no-send", "--results", "results.csv"],
  ["people", "delete", "--from", "FILE", "--yes"],
  ["autopilot", "remove", "--from", "FILE", "--yes", "--results", "results.csv"],
];

async function lastLine(words: readonly string[], file: string): Promise<string> {
  const args = words.map((word) => word.replace("FILE", file));
  const isRemote = args[0] !== "service" && args[0] !== "serve";
  const place = isRemote
    ? ["--base-url", "http://127.0.0.1:9"]
    : args.includes("--database-file")
      ? []
      : ["--data", data];
  const env = { HOME: folder, SURVEYCTL_API_KEY: "key-of-the-files" };
  const { status, stderr } = await runInProcess({ args: [...args, ...place], env });
  const errors = stderr.split("\n").filter((line) => line.startsWith("error:"));
  return `${status} ${errors.join("; ").replaceAll(file, "FILE")}`;
}

describe("a file that is named", () => {
  it.each([...PLACES, ...STREAMED].map((words) => [words.join(" "), words] as const))("%s", async (_, words) => {
    expect(await lastLine(words, path.join(folder, "pipe"))).toMatch(
      /^2 error: .*FILE.*it is a pipe that nothing writes to\)?$/,
    );
    expect(await lastLine(words, "/dev/zero")).toMatch(/^2 error: .*FILE.*it is a device, not a file\)?$/);
    if (STREAMED.includes(words)) return;
    expect(await lastLine(words, path.join(folder, "large"))).toMatch(
      /^2 error: .*FILE.*(?:it is larger than 1 MiB|is too large \(maximum is 32 KB\))\)?$/,
    );
  });
});

it("standard input is bounded like a file", async () => {
  const stdin = "a".repeat(1024 * 1024 + 1);
  const { status, stderr } = await runInProcess({ args: ["service", "apply", "-", "--data", data], stdin });
  expect([status, stderr]).toEqual([2, "error: standard input: it is larger than 1 MiB\n"]);
});
