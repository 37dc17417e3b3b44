import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";

const EXECUTABLE = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
export const hasBrowser = EXECUTABLE !== undefined;
if (!hasBrowser) process.stderr.write("chromium is not installed: what is shown in it is not tried here\n");

export function launchBrowser(env: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none", "--disable-lcd-text"];
  return chromium.launch({ executablePath: EXECUTABLE ?? "", args, env: { ...process.env, ...env } });
}

const axe: { text: string | null } = { text: null };
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Returns the WCAG 2.2 AA violations that axe finds. The page's CSP must allow scripts or be bypassed. */
export async function findViolations(page: Page): Promise<string[]> {
  axe.text ??= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe.text);
  const options = JSON.stringify({ runOnly: { type: "tag", values: TAGS } });
  const result: AxeResults = await page.evaluate(`axe.run(${options})`);
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""} ${nodes[0]?.failureSummary ?? ""}`);
}
