import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { json, startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import { runInProcess } from "../helpers/in-process.ts";
import { isLong, size } from "../helpers/long.ts";
import { startServeProcess } from "../helpers/serve.ts";

const ROWS = size(500, 1000);

async function customers(count: number): Promise<{ file: string; home: string }> {
  const home = await mkdtemp(path.join(tmpdir(), "surveyctl-rate-"));
  onTestFinished(async () => await rm(home, { recursive: true, force: true }));
  const file = path.join(home, "customers.csv");
  await writeFile(file, `email\n${Array.from({ length: count }, (_, index) => `p${index}@example.com\n`).join("")}`);
  return { file, home };
}

it("when a rate is set, then no second sees more requests than that", async () => {
  const arrivals: number[] = [];
  const server = await startMisbehavingServer({
    script: ({ method }) => {
      arrivals.push(performance.now());
      return json(method === "GET" ? [] : { id: "1" });
    },
  });
  onTestFinished(async () => await server.stop());
  const { file, home } = await customers(120);
  const args = [
    "people",
    "import",
    file,
    "--no-send",
    "--quiet",
    "--rate",
    "40",
    "--concurrency",
    "16",
    "--base-url",
    server.baseUrl,
  ];
  const { status } = await runInProcess({ args, env: { HOME: home, SURVEYCTL_API_KEY: "key-of-the-rate" } });
  expect(status).toBe(0);
  expect(arrivals.length).toBe(121);
  // A busy machine can bunch late requests, so a single second has a tenth of slack; the whole run has none.
  const most = Math.max(...arrivals.map((from) => arrivals.filter((at) => at >= from && at < from + 1000).length));
  expect(most).toBeLessThanOrEqual(44);
  expect(arrivals.length / (((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1000 + 1)).toBeLessThanOrEqual(40);
});

/** In the short run test/client/rate-limit.test.ts covers this in one process. */
it.runIf(isLong)(
  "when a service limits the rate, then a settled import meets a 429 in at most 1 % of its requests",
  async () => {
    // Separate processes, because each must keep its pace.
    const service = await startServeProcess({ args: ["--rate-limit", "100/s"] });
    onTestFinished(async () => void (await service.stop()));
    const { file } = await customers(ROWS);
    const { status, stderr } = await service.run(["people", "import", file, "--no-send", "--quiet", "--verbose"]);
    expect(status).toBe(0);
    const statuses = [...stderr.matchAll(/^< \d+ (\d+) in/gm)].map(([, code = ""]) => Number(code));
    const settled = statuses.slice(statuses.length / 2);
    expect(settled.length).toBeGreaterThanOrEqual(ROWS / 2);
    expect(settled.filter((code) => code === 429).length / settled.length).toBeLessThanOrEqual(0.01);
  },
);
