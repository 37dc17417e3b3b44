import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { flood, json, startMisbehavingServer, type Behaviour } from "../helpers/misbehaving-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { sampled } from "./table.ts";

const GB = 1024 ** 3;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-memory-"));
  const note = `process.on("exit", () => require("node:fs").writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));`;
  await writeFile(path.join(folder, "peak.cjs"), note);
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function peakOf(
  name: string,
  behaviour: Behaviour,
  args: readonly string[],
): Promise<{ status: number | null; said: string; peakMb: number }> {
  const server = await startMisbehavingServer({ script: [behaviour] });
  const peakFile = path.join(folder, name.replaceAll(/\W/g, "-"));
  const env = {
    NODE_OPTIONS: `--require=${folder}/peak.cjs`,
    PEAK_FILE: peakFile,
    SURVEYCTL_API_KEY: "key-of-memory",
    SURVEYCTL_SETTLE: "1s",
  };
  try {
    const { status, stderr } = await runCli({ args: [...args, "--retries", "0", "--base-url", server.baseUrl], env });
    return { status, said: stderr.split("\n")[0] ?? "", peakMb: Number(await readFile(peakFile, "utf8")) / 1024 };
  } finally {
    await server.stop();
  }
}

const COMMANDS = [
  "people list",
  "people export --out people.csv",
  "metrics",
  "api GET /v1/people.json",
  "people add --email ann@example.com",
];
const SAID =
  /^error: .*the answer is larger than 64 MiB \(status 200, content type application\/json, a body that begins " "\)/;

describe("a body of 1 GB", () => {
  it.for(sampled(COMMANDS, { share: 5, turn: 0 }))(
    "when %s gets it announced, then it is not read at all",
    async (line, { expect }) => {
      const small = await peakOf(`small ${line}`, json([]), line.split(" "));
      const { status, said, peakMb } = await peakOf(line, flood(GB), line.split(" "));
      expect([status, said]).toEqual([1, expect.stringMatching(SAID)]);

      expect(peakMb - small.peakMb).toBeLessThan(30);
    },
  );

  it.for(sampled(COMMANDS, { share: 5, turn: 4 }))(
    "when %s gets it in chunks, then only so much is kept",
    async (line, { expect }) => {
      const { status, said, peakMb } = await peakOf(line, flood(GB, { chunked: true }), line.split(" "));
      expect([status, said]).toEqual([1, expect.stringMatching(SAID)]);

      // Far less than was sent. On a busy machine, released buffers are collected late.
      expect(peakMb).toBeLessThan(700);
    },
  );
});
