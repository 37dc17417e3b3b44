import { expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";

it.each<[string, string]>([
  ["report", "--out is required"],
  ["report --out nps.html -o json", "report writes HTML; --output and --columns cannot change it"],
  ["report --out nps.xlsx", "--out nps.xlsx: Excel workbooks cannot be written"],
  ["report --out nps.html --by decade", '--by: "decade" is not one of day, week, month, quarter, year'],
  [
    "report --out nps.html --since 2026-02 --until 2026-01",
    "--until (2026-01-31T23:59:59Z) is before --since (2026-02-01T00:00:00Z)",
  ],
  [
    "report --out nps.html --as-of 2026-10-31 --since 2026-11-01 --tz UTC",
    "--since (2026-11-01T00:00:00Z) is after --as-of (2026-10-31T23:59:59Z)",
  ],
  [
    "digest --as-of 2026-10-31 --since 2026-11-02 --until 2026-11-03 --tz UTC",
    "--since (2026-11-02T00:00:00Z) is after --as-of (2026-10-31T23:59:59Z)",
  ],
  [
    "digest --as-of 2026-10-31 --period 2026-11 --tz UTC",
    "--period (2026-11-01T00:00:00Z) is after --as-of (2026-10-31T23:59:59Z)",
  ],
  ["report --out nps.html --period 2099-01 --tz UTC", "--period (2099-01-01T00:00:00Z) is in the future"],
  ["report check nps.html", 'unexpected argument "check"'],
  ["report nps.html", 'unexpected argument "nps.html"'],
  ["digest -o pdf", '--output: "pdf" is not one of text, html, eml, slack'],
  ["digest --to team@example.com", "--to requires -o eml"],
  ["digest -o eml --to team", '--to: "team" is not an e-mail address: it has no @'],
  ["digest --columns nps", "digest is a message; --columns cannot change it"],
])("when somebody types %s, then it is refused", async (line, message) => {
  const env = { SURVEYCTL_BASE_URL: "http://127.0.0.1:9", SURVEYCTL_API_KEY: "key" };
  const { status, stdout, stderr } = await runInProcess({ args: line.split(" "), env });
  const [said = ""] = stderr.split("\n");
  const text = said.startsWith("{") ? (JSON.parse(said) as { error: { message: string } }).error.message : said;
  expect([status, stdout, text.replace(/^error: /, "")]).toEqual([2, "", message]);
});
