import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { runInProcess } from "../../../helpers/in-process.ts";
import { listening } from "../../../helpers/misbehaving-server.ts";
import { startProgram } from "../../../helpers/run-cli.ts";
import { tmpdir } from "node:os";

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** `number` counts requests from 1. `null` never answers. */
async function serve(statusOf: (number: number, url: string) => number | null) {
  const seen: string[] = [];
  server = createServer((request, response) => {
    seen.push(request.url ?? "");
    const status = statusOf(seen.length, request.url ?? "");
    if (status === null) return;
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  const env = { SURVEYCTL_BASE_URL: `http://127.0.0.1:${await listening(server)}`, SURVEYCTL_API_KEY: "key" };
  return { seen, env };
}

const IDS = Array.from({ length: 100 }, (_, index) => String(index + 1));
const DELETE = ["responses", "delete", ...IDS, "--yes", "--retries", "0", "--concurrency", "2"];
const COUNTS = /^Stopped: .*$/m;

interface Row {
  readonly id: string;
  readonly outcome: string;
}

function rowsOf(stdout: string): (readonly [string, string])[] {
  return (JSON.parse(stdout) as Row[]).map(({ id, outcome }) => [id, outcome]);
}

describe("a run of many changes", () => {
  it("stops at a refused key, after the rows so far", async () => {
    const { seen, env } = await serve((number) => (number <= 4 ? 200 : 401));
    const ended = await runInProcess({ args: [...DELETE, "-o", "json"], env });
    expect(ended.status).toBe(4);
    expect(seen.length).toBeLessThanOrEqual(6);
    const rows = rowsOf(ended.stdout);
    expect(rows.slice(0, 4)).toEqual(["1", "2", "3", "4"].map((id) => [id, "deleted"]));
    expect(rows.slice(4).every(([, outcome]) => outcome === "failed")).toBe(true);
    const lines = ended.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    expect(lines).toEqual([
      { note: `Stopped: 4 done, ${rows.length - 4} failed, ${100 - rows.length} not tried` },
      {
        error: expect.objectContaining({
          code: "changes_failed",
          hint: "surveyctl auth status shows which key is used\nthe key comes from SURVEYCTL_API_KEY",
          details: rows.slice(4).map(([id]) => expect.objectContaining({ item: `response ${id}`, status: 401 })),
        }),
      },
    ]);
  });

  it("tells at a stop also what failed before", async () => {
    const { env } = await serve((number) => (number === 1 ? 405 : 401));
    const ended = await runInProcess({ args: [...DELETE, "--concurrency", "1"], env });
    expect([ended.status, ended.stderr]).toEqual([
      4,
      expect.stringMatching(
        /^Stopped: 0 done, 2 failed, 98 not tried\nerror: response 1: this service cannot .*\nerror: response 2: .*\nhint: surveyctl auth/,
      ),
    ]);
  });

  it("stops at a redirect: the service's address has moved", async () => {
    const { seen, env } = await serve((number) => (number === 2 ? 302 : 200));
    const ended = await runInProcess({
      args: ["responses", "delete", "1", "2", "3", "--yes", "--concurrency", "1"],
      env,
    });
    expect([ended.status, seen.length]).toEqual([1, 2]);
    expect(ended.stderr).toMatch(/^Stopped: 1 done, 1 failed, 1 not tried\nerror: response 2: /);
  });

  it("says nothing of changes where all failed", async () => {
    const { env } = await serve(() => 405);
    const ended = await runInProcess({ args: ["responses", "delete", "1", "2", "--yes"], env });
    expect([ended.status, ended.stderr]).toEqual([
      5,
      expect.stringMatching(/^error: response 1: .*\nerror: response 2: /),
    ]);
  });

  it("stops when the service fails twenty times in a row", async () => {
    const { seen, env } = await serve((number) => (number === 1 ? 404 : 500));
    const ended = await runInProcess({ args: [...DELETE, "-o", "json"], env });
    expect(ended.status).toBe(1);
    expect(seen.length).toBeLessThanOrEqual(24);
    expect(rowsOf(ended.stdout).length).toBeGreaterThanOrEqual(20);
  });

  it("stops where the network is dead", async () => {
    const { env } = await serve(() => null);
    server?.close();
    const ended = await runInProcess({ args: DELETE, env });
    expect(ended.status).toBe(1);
    expect(ended.stdout.split("\n").length).toBeLessThanOrEqual(4);
    expect(COUNTS.exec(ended.stderr)?.[0]).toBe("Stopped: 0 done, 2 failed, 98 not tried");
  });

  it("tells at an interrupt what was done, and what may have been", async () => {
    const { seen, env } = await serve((number) => (number <= 4 ? 200 : null));
    const running = startProgram({ args: [...DELETE, "-o", "json"], env, home: tmpdir() });
    running.child.stdin.end();
    while (seen.length < 6) await new Promise((resolve) => setTimeout(resolve, 5));
    running.child.kill("SIGINT");
    const ended = await running.ended;
    expect(ended.status).toBe(130);
    expect(rowsOf(ended.stdout)).toEqual([
      ...["1", "2", "3", "4"].map((id) => [id, "deleted"]),
      ["5", "unknown"],
      ["6", "unknown"],
    ]);
    expect((JSON.parse(ended.stderr) as { error: JsonObject }).error).toMatchObject({
      code: "interrupted",
      hint: "4 done, 2 in flight that may have been done, 94 not tried",
    });
  });

  it("tells how many requests were retried", async () => {
    const { env } = await serve((number) => (number === 2 ? 429 : 200));
    const args = ["responses", "delete", "1", "2", "3", "--yes"];
    const { status, stderr } = await runInProcess({ args, env });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^1 request was retried\nDeleted 3 responses\.$/m)]);
  });

  it("reports several failures as one error for machines", async () => {
    const { env } = await serve((_number, url) => (/\/998\.json/.test(url) ? 405 : 200));
    const args = ["responses", "delete", "997", "998", "999", "--yes", "-q", "-o", "json"];
    const ended = await runInProcess({ args, env });
    expect(ended.status).toBe(5);
    expect(JSON.parse(ended.stderr)).toEqual({
      error: {
        code: "changes_failed",
        message: "1 of 3 changes failed",
        status: null,
        details: [
          { item: "response 998", code: "not_found", message: "this service cannot delete responses", status: null },
        ],
        hint: null,
      },
    });
  });
});
