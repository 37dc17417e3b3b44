import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findViolations } from "../../../helpers/browser.ts";
import { flagWords } from "../../../helpers/flag-words.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { fakeDeps, NOW } from "../../../helpers/fake-deps.ts";
import { listedClient } from "../../../helpers/listed-client.ts";
import { isLong, size } from "../../../helpers/long.ts";
import { responseRow } from "../../../helpers/list-service.ts";

const DAY = 86_400;
const LOOKS = [
  ["in the dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" }],
  ["on a phone", { viewport: { width: 390, height: 844 }, colorScheme: "light" }],
  ["on a screen", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
] as const;

/** Takes the caller's browser, because launching another takes longer than the tests. */
export function describeReport(running: () => Browser): void {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "surveyctl-browser-"));
    const rows = Array.from({ length: 100 }, (_, index) =>
      responseRow(index + 1, NOW - 90 * DAY + Math.floor(index * 0.9 * DAY), {
        score: (index * 7) % 11,
        comment:
          ["Plain words", "</style><script>document.title = 1</script>", "مرحبا \u202E", "x".repeat(3000)][index % 4] ??
          "",
        person_properties: {
          plan: ["free", "pro", "a plan with a name that is far too long for a phone"][index % 3] ?? "",
        },
      }),
    );
    const { deps } = fakeDeps({ client: listedClient(rows) });
    const flags = { out: path.join(folder, "nps.html"), since: NOW - 60 * DAY, segment: "plan", title: "Acme" };
    await runCommand(deps, ["report", ...flagWords(flags)]);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each(LOOKS.slice(0, size(1, LOOKS.length)))(
    "has no fault that axe finds %s, fits, and asks for nothing",
    async (_, options) => {
      // The page's CSP also blocks axe.
      const context = await running().newContext({ ...options, bypassCSP: true });
      const page = await context.newPage();
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url().slice(0, 5)));
      await page.goto(pathToFileURL(path.join(folder, "nps.html")).href);
      await page.waitForLoadState("networkidle");
      const title = await page.title();
      const fits = await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth");
      await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true;");
      const found = await findViolations(page);
      await context.close();
      expect(found).toEqual([]);
      expect(asked.filter((url) => url !== "file:" && url !== "data:")).toEqual([]);
      expect([title.startsWith("Acme: NPS "), fits]).toEqual([true, true]);
    },
  );

  it.runIf(isLong)("wastes no paper: no heading is left behind on a page, and no chart is cut", async () => {
    const page = await running().newPage();
    await page.goto(pathToFileURL(path.join(folder, "nps.html")).href);
    const pdf = await page.pdf({ format: "A4" });
    // It would take 13 pages if headings were separated from charts and comments had one column.
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length).toBeLessThanOrEqual(10);
    await page.close();
  });
}
