/** Values of `TZ` that Node misreads. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Ended, runCli } from "../helpers/run-cli.ts";
import { startServe, type Served } from "../helpers/serve.ts";

let served: Served;
beforeAll(async () => {
  served = await startServe();
  await served.run(["people", "add", "--email", "ann@example.com", "--no-send"]);
  for (const score of ["9", "3"])
    await served.run(["responses", "add", "--email", "ann@example.com", "--score", score]);
});
afterAll(() => served.stop());

function runIn(zone: string, ...args: readonly string[]): Promise<Ended> {
  return runCli({ args, env: { ...served.env, TZ: zone } });
}

async function reportIn(zone: string, name: string): Promise<string> {
  const file = path.join(served.folder, name);
  expect(await runIn(zone, "report", "--out", file, "--since", "2026-01-01", "-q")).toMatchObject({
    status: 0,
    stderr: "",
  });
  return (await readFile(file, "utf8")).replaceAll(name, "NAME");
}

function bodyOf(report: string): string {
  return report.slice(report.indexOf("<title>")).replaceAll(/\d\d:\d\d(?::\d\d)?/g, "");
}

it("an empty TZ is none", async () => {
  expect(await reportIn("", "empty.html")).not.toMatch(/Etc\/Unknown|undefined/);
  expect((await runIn("", "digest", "-o", "text")).status).toBe(0);
});

it("a path is the zone that it leads to, with its summer time", async () => {
  const [named, byPath] = [
    await reportIn("Europe/Berlin", "a.html"),
    await reportIn("/usr/share/zoneinfo/Europe/Berlin", "b.html"),
  ];
  expect(named).toContain("Europe/Berlin");
  expect(bodyOf(byPath)).toBe(bodyOf(named));
  const { stderr } = await runIn(
    ":/usr/share/zoneinfo/Europe/Berlin",
    "metrics",
    "--since",
    "2026-07-01",
    "-v",
    "--columns",
    "nps",
  );
  expect(stderr).toContain("note: --since 2026-07-01 00:00:00 (Europe/Berlin)\n");
});

it("an unknown zone is refused by name", async () => {
  expect(await runIn("Foo/Bar", "metrics", "--since", "2026-07-01")).toMatchObject({
    status: 2,
    stdout: "",
    stderr: 'error: TZ: "Foo/Bar" is not a time zone such as UTC, Europe/Berlin or America/New_York\n',
  });
});
