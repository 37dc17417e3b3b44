import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWaitLines } from "../../../../src/cli/kit/wait-lines.ts";
import { createClient } from "../../../../src/client/create-client.ts";
import { undiciTransport } from "../../../../src/client/transport/undici-transport.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { systemClock, type Clock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { type FlagWords, flagWords } from "../../../helpers/flag-words.ts";
import { fakeDeps, type FakeOptions } from "../../../helpers/fake-deps.ts";
import { runInProcess } from "../../../helpers/in-process.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import {
  responseRow,
  startListService,
  type ListService,
  type ListServiceOptions,
} from "../../../helpers/list-service.ts";

const START = 1_760_000_000;
const HEADER =
  "id,person_id,person_email,person_name,survey_type,score,comment,permalink,created_at,updated_at,person_properties,notes,tags,additional_answers\n";

let folder = "";
let service: ListService | null = null;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-export-"));
});
afterEach(async () => {
  await service?.stop();
  service = null;
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string): string => path.join(folder, name);
const someRows = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => responseRow(index + 1, START + index * 60));

function skippingClock(): Clock {
  let skippedMs = 0;
  return {
    now: () => systemClock.now() + skippedMs,
    monotonic: () => systemClock.monotonic() + skippedMs,
    async sleep(ms) {
      skippedMs += ms;
    },
  };
}

async function run(
  typed: FlagWords = {},
  more: FakeOptions & { readonly apiKey?: string; readonly signal?: AbortSignal } = {},
) {
  const baseUrl = service?.baseUrl ?? "";
  const { deps, out, err } = fakeDeps(more);
  const waits = createWaitLines({ ...deps, options: { ...deps.options, quiet: true } });
  const connect = async () => {
    const client = createClient({
      baseUrl,
      apiKey: more.apiKey ?? "key",
      transport: undiciTransport({ baseUrl, env: {} }),
      clock: skippingClock(),
      onWait: waits.onWait,
    });
    return {
      client,
      profile: null,
      place: baseUrl,
      keyFingerprint: async () => more.apiKey ?? "key",
      retryCount: waits.retryCount,
      close: () => client.close(),
    };
  };
  const signal = more.signal ?? deps.signal;
  const world = { ...deps, random: systemRandom, signal, connect };
  const status = await runCommand(world, ["responses", "export", ...flagWords({ "per-page": 5, ...typed })]);
  return { status, out: out(), err: err() };
}

async function serve(options: ListServiceOptions): Promise<ListService> {
  service = await startListService(options);
  return service;
}

const answer = (text: string, value: JsonObject, id: string): JsonObject => ({
  id: "1",
  question: { id, type: "scale", text },
  value,
});
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const cellsOf = (csv: string, column: string): string[] => {
  const records: Record<string, string>[] = parse(csv, { columns: true, bom: true });
  return records.map((record) => record[column] ?? "");
};
const idsOf = (csv: string): string[] => cellsOf(csv, "id");
const everyId = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

describe("an export to standard output", () => {
  it("writes every column of every row, and one closing line on stderr", async () => {
    await serve({ lists: { survey_responses: someRows(1) } });
    const { status, out, err } = await run();
    const row = `1,1001,p1@example.com,Person 1,nps,1,"Comment 1, ""quoted""",https://survey.example.com/r/1,2025-10-09T08:53:20Z,2025-10-09T08:53:20Z,"{""plan"":""pro""}",[],[],[]\n`;
    const bytes = Buffer.from(HEADER + row);
    expect({ status, out, err }).toEqual({
      status: 0,
      out: HEADER + row,
      err: `Exported 1 response (${bytes.length} B, 2025-10-09T08:53:20Z – 2025-10-09T08:53:20Z, sha256 ${sha256(bytes)}); count verified\n`,
    });
  });

  it("asks for person and notes, and for nothing that comes after the start", async () => {
    const { requests } = await serve({ lists: { survey_responses: someRows(12) } });
    await run();
    const lists = requests.filter(
      ({ path: where, query }) => where.endsWith("survey_responses.json") && query.get("order") === null,
    );
    expect(lists.every(({ query }) => query.getAll("expand[]").join() === "person,notes")).toBe(true);
    expect(
      lists.slice(1).every(({ query }) => query.has("since") && Number(query.get("until")) < Date.now() / 1000 + 2),
    ).toBe(true);
  });

  it("keeps JSON as the service sent it", async () => {
    await serve({ lists: { survey_responses: someRows(12).map((row) => ({ ...row, unknown: { a: [1.5] } })) } });
    const whole = await run({ output: "json" });
    expect(JSON.parse(whole.out)).toEqual(someRows(12).map((row) => ({ ...row, unknown: { a: [1.5] } })));
    const lines = await run({ output: "ndjson" });
    expect(
      lines.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(JSON.parse(whole.out));
  });

  it("gives an empty list its form", async () => {
    await serve({ lists: {} });
    expect((await run()).out).toBe(HEADER);
    expect((await run({ output: "json" })).out).toBe("[]\n");
  });

  it("says nothing under --quiet", async () => {
    await serve({ lists: { survey_responses: someRows(12) } });
    expect((await run({}, { options: { quiet: true } })).err).toBe("");
  });
});

describe("a snapshot", () => {
  it("holds each row that was there, once, while others are added, back-dated, edited and deleted", async () => {
    const rows = someRows(300);
    let newest = 1000;
    await serve({
      lists: { survey_responses: rows },
      onRequest: ({ n }) => {
        if (n < 2) return null;
        newest += 2;
        rows.push(responseRow(newest, START + n * 37), responseRow(newest + 1, Math.floor(Date.now() / 1000)));
        const edited = rows[(n * 7) % 250];
        if (edited !== undefined)
          Object.assign(edited, { comment: "edited", updated_at: Math.floor(Date.now() / 1000) });
        // Only deletes back-dated rows, so that all of the initial rows remain.
        const gone = rows.findIndex((row) => Number(row.id) > 1000 && Number(row.created_at) < START + n * 37 - 500);
        if (gone >= 0) rows.splice(gone, 1);
        return null;
      },
    });
    const ids = idsOf((await run()).out);
    expect(ids.filter((id) => Number(id) <= 1000)).toEqual(everyId(300));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("holds rows that bear a time to come", async () => {
    const later = Math.floor(Date.now() / 1000) + 5000;
    await serve({ lists: { survey_responses: [...someRows(12), responseRow(13, later), responseRow(14, later)] } });
    expect(idsOf((await run()).out)).toEqual(everyId(14));
  });

  it("ends where the user says", async () => {
    await serve({ lists: { survey_responses: someRows(40) } });
    const { out, err } = await run({ since: START + 60, until: START + 60 * 9 });
    expect(idsOf(out)).toEqual(everyId(10).slice(1));
    expect(err).toContain("; count verified");
  });

  it("is the same from a service that ignores times", async () => {
    await serve({ lists: { survey_responses: someRows(83) }, ignoresTimes: true });
    expect(idsOf((await run()).out)).toEqual(everyId(83));
  });
});

describe("a service in trouble", () => {
  it("is waited for through slow answers, answers out of order and storms of 429", async () => {
    await serve({
      lists: { survey_responses: someRows(200) },
      onRequest: async ({ n }) => {
        await new Promise((resolve) => setTimeout(resolve, (n * 7919) % 23));
        return n % 5 === 0 ? { status: 429, headers: { "retry-after": "1" } } : null;
      },
    });
    const { out, err } = await run();
    expect(idsOf(out)).toEqual(everyId(200));
    expect(err).toMatch(/^\d+ requests were retried$/m);
  });

  it.each([true, false])(
    "leaves the old file alone when page 37 cannot be had (times ignored: %s)",
    async (ignoresTimes) => {
      await writeFile(at("r.csv"), "old\n");
      await serve({
        lists: { survey_responses: someRows(250) },
        ignoresTimes,
        onRequest: ({ n, query }) => ((ignoresTimes ? query.get("page") === "37" : n >= 37) ? { status: 500 } : null),
      });
      await expect(run({ out: at("r.csv") })).rejects.toThrow("500");
      expect(await readFile(at("r.csv"), "utf8")).toBe("old\n");
      expect(await readdir(folder)).toEqual(["r.csv"]);
    },
  );

  it("is reported with the requests that were retried, also where the export fails", async () => {
    const { baseUrl } = await serve({ lists: { survey_responses: someRows(3) }, onRequest: () => ({ status: 500 }) });
    const env = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: "key" };
    const args = ["responses", "export", "--out", at("r.csv"), "--retries", "1"];
    const { status, stderr } = await runInProcess({ args, env });
    expect(status).toBe(1);
    expect(stderr.match(/^\d+ requests? w.*$/gm)).toEqual([
      expect.stringMatching(/^\d+ requests? (?:was|were) retried$/),
    ]);
  });

  it("leaves nothing behind when it is stopped", async () => {
    const stopping = new AbortController();
    await serve({
      lists: { survey_responses: someRows(250) },
      onRequest: ({ n }) => {
        if (n === 20) stopping.abort(new Error("stopped"));
        return null;
      },
    });
    await expect(run({ out: at("r.csv"), flatten: true }, { signal: stopping.signal })).rejects.toThrow("stopped");
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("a file", () => {
  it("is written with mode 0600, its checksum beside it", async () => {
    await serve({ lists: { survey_responses: someRows(12) } });
    await run({ out: at("r.csv"), checksum: true });
    const bytes = await readFile(at("r.csv"));
    expect(await readFile(at("r.csv.sha256"), "utf8")).toBe(`${sha256(bytes)}  r.csv\n`);
    expect((await stat(at("r.csv"))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["r.csv", "r.csv.sha256"]);
  });

  it("keeps its mode and stays behind its link", async () => {
    await serve({ lists: { survey_responses: someRows(3) } });
    await writeFile(at("real.csv"), "old");
    await chmod(at("real.csv"), 0o644);
    await symlink("real.csv", at("link.csv"));
    await run({ out: at("link.csv") });
    expect((await lstat(at("link.csv"))).isSymbolicLink()).toBe(true);
    expect(idsOf(await readFile(at("real.csv"), "utf8"))).toEqual(everyId(3));
    expect((await stat(at("real.csv"))).mode & 0o777).toBe(0o644);
  });

  it.each([
    ["a folder", "", "is a directory"],
    ["in a folder that is not there", "none/r.csv", "does not exist"],
  ])("is refused before the first request when it is %s", async (_, name, message) => {
    const { requests } = await serve({ lists: { survey_responses: someRows(3) } });
    await expect(run({ out: at(name) })).rejects.toThrow(message);
    expect(requests).toEqual([]);
  });

  it.each<[string, () => FlagWords, string]>([
    ["a checksum in a folder's place", () => ({ out: at("r.csv"), checksum: true }), "r.csv.sha256 is a directory"],
    [
      "the state in the file's place",
      () => ({ out: at("r.csv"), state: at("./r.csv") }),
      "is the file that the export writes",
    ],
    [
      "the state in the checksum's place",
      () => ({ out: at("c.csv"), checksum: true, state: at("c.csv.sha256") }),
      "is the file that the export writes",
    ],
  ])("is refused with %s before the first request, and nothing is left", async (_, flags, message) => {
    await mkdir(at("r.csv.sha256"));
    const { requests } = await serve({ lists: { survey_responses: someRows(3) } });
    await expect(run(flags())).rejects.toThrow(message);
    expect([requests, await readdir(folder)]).toEqual([[], ["r.csv.sha256"]]);
  });

  it("is refused before the first request with a state that cannot be written", async () => {
    await symlink(at("none/state"), at("state"));
    const { requests } = await serve({ lists: { survey_responses: someRows(3) } });
    await expect(run({ out: at("r.csv"), state: at("state") })).rejects.toThrow("does not exist");
    expect([requests, await readdir(folder)]).toEqual([[], ["state"]]);
  });

  it("is refused with a checksum of a descriptor", async () => {
    const { requests } = await serve({ lists: { survey_responses: someRows(3) } });
    const handle = await open(at("r.csv"), "w");
    const flags = { out: `/dev/fd/${handle.fd}`, checksum: true };
    await expect(run(flags)).rejects.toThrow(`${flags.out} is not a regular file`);
    await handle.close();
    expect([requests, await readFile(at("r.csv"), "utf8")]).toEqual([[], ""]);
  });

  it.each(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])("named %s is standard output", async (out) => {
    await serve({ lists: { survey_responses: someRows(3) } });
    expect(idsOf((await run({ out })).out)).toEqual(everyId(3));
  });

  it.each([
    [false, "id\n1\n"],
    [true, "id\r\n1\r\n"],
  ])("that ends within a line is ended before more is added (--excel: %s)", async (excel, text) => {
    await serve({ lists: { survey_responses: someRows(1) } });
    await writeFile(at("r.csv"), "id");
    await run({ out: at("r.csv"), append: true }, { options: { columns: ["id"], excel } });
    expect(await readFile(at("r.csv"), "utf8")).toBe(text);
  });

  it.each([
    ["r.ndjson", false, "r.ndjson", (text: string) => text.startsWith('{"id":"1"')],
    ["r.json", false, "r.json", (text: string) => text.startsWith("[\n{")],
    ["r.tsv", false, "r.tsv", (text: string) => text.startsWith("1\t1001\t")],
    ["r.txt", false, "r.txt", (text: string) => text.startsWith(HEADER)],
    ["r.ndjson.gz", false, "r.ndjson.gz", (text: string) => text.startsWith('{"id":"1"')],
    ["R.CSV.GZ", true, "R.CSV.GZ", (text: string) => text.startsWith(HEADER)],
    ["R.CSV.GZ", false, "R.CSV.GZ", (text: string) => text.startsWith(HEADER)],
    ["r.csv", true, "r.csv.gz", (text: string) => text.startsWith(HEADER)],
  ])("named %s (gzip: %s) becomes %s", async (name, gzip, written, fits) => {
    await serve({ lists: { survey_responses: someRows(12) } });
    await run({ out: at(name), gzip });
    expect(await readdir(folder)).toEqual([written]);
    const bytes = await readFile(at(written));
    expect(fits((/\.gz$/i.test(written) ? gunzipSync(bytes) : bytes).toString())).toBe(true);
  });
});

describe("columns", () => {
  it("are one more for each property and each question under --flatten, in the order of first appearance", async () => {
    const rows = someRows(30);
    const nothing = { free_response: null, scale: null, select_one: null, select_many: null };
    Object.assign(rows[3] ?? {}, {
      person_properties: { seats: 4, plan: null },
      additional_answers: [answer("How fast?", { ...nothing, scale: 7 }, "q_fast")],
    });
    Object.assign(rows[20] ?? {}, {
      person_properties: null,
      additional_answers: [
        answer(
          "Which?",
          {
            ...nothing,
            select_many: [
              { id: "1", text: "Red" },
              { id: "2", text: "Blue" },
            ],
          },
          "q_which",
        ),
      ],
    });
    await serve({ lists: { survey_responses: rows } });
    const { out } = await run({ flatten: true }, { options: { columns: ["id"] } });
    const lines = out.split("\n");
    expect(lines[0]).toBe("id,person_properties.plan,person_properties.seats,answers.q_fast,answers.q_which");
    expect([lines[1], lines[4], lines[21]]).toEqual(["1,pro,,,", "4,,4,7,", "21,,,,Red; Blue"]);
    expect(idsOf(out)).toEqual(everyId(30));
  });

  it("are one more for each question that was answered, behind the fixed ones, where the service says so", async () => {
    const rows = someRows(250);
    const value = { free_response: "Slow", scale: null, select_one: null, select_many: null };
    Object.assign(rows[240] ?? {}, { additional_answers: [answer("Why?", value, "q_why")] });
    const served = { lists: { survey_responses: rows } };
    const headOf = async (headers: Record<string, string>): Promise<[string, string | undefined]> => {
      await serve({ ...served, headers });
      const lines = (await run({})).out.split("\n");
      return [lines[0]?.split("additional_answers")[1] ?? "", lines[241]?.split(",").at(-1)];
    };
    expect(await headOf({ "x-additional-answers": "some" })).toEqual([",answers.q_why", "Slow"]);
    expect((await headOf({}))[0]).toBe("");
  });

  it("are there once when --columns names them and --flatten finds them", async () => {
    await serve({ lists: { survey_responses: someRows(2) } });
    const { out } = await run({ flatten: true }, { options: { columns: ["person_properties.plan", "id"] } });
    expect(out).toBe("person_properties.plan,id\npro,1\npro,2\n");
  });

  it("are guarded, marked and ended as asked for", async () => {
    await serve({ lists: { survey_responses: [responseRow(1, START, { comment: "=1+1" })] } });
    const flags = { out: at("r.csv") };
    await run(flags, { options: { columns: ["id", "comment"], time: "unix", excel: true } });
    expect(await readFile(flags.out, "utf8")).toBe("\ufeffid,comment\r\n1,'=1+1\r\n");
  });
});

/** The state of a run that died after writing its file and before writing its state. */
function announced(before: string, after: string): string {
  const { identity: _, pending: __, surveyctl_export_state: ___, ...pending } = JSON.parse(after) as JsonObject;
  return JSON.stringify({ ...(JSON.parse(before) as JsonObject), pending });
}

describe("an incremental export", () => {
  const step = { out: "", state: "", append: true };
  beforeEach(() => Object.assign(step, { out: at("r.csv"), state: at("r.state") }));

  it("adds what is new or changed and nothing twice", async () => {
    const rows = someRows(23);
    const { requests } = await serve({ lists: { survey_responses: rows } });
    await run(step);
    const now = Math.floor(Date.now() / 1000);
    rows.push(responseRow(24, START - 5, { updated_at: now }));
    Object.assign(rows[4] ?? {}, { comment: "changed", updated_at: now });
    const before = requests.length;
    await run(step);
    expect(requests[before]?.query.get("order")).toBe("asc:updated_at");
    await run(step);
    expect(idsOf(await readFile(step.out, "utf8"))).toEqual([...everyId(23), "5", "24"]);
    expect((await stat(step.state)).mode & 0o777).toBe(0o600);
  });

  it("goes by the rows' own times, whatever the service's clock says", async () => {
    const rows = someRows(23);
    await serve({ lists: { survey_responses: rows } });
    await run(step);
    rows.push(responseRow(24, START + 23 * 60));
    Object.assign(rows[4] ?? {}, { updated_at: START + 24 * 60 });
    await run(step);
    expect(idsOf(await readFile(step.out, "utf8"))).toEqual([...everyId(23), "24", "5"]);
  });

  it("is not led past new rows by one from the future", async () => {
    const now = Math.floor(Date.now() / 1000);
    const rows = [...someRows(3), responseRow(4, now + 90_000)];
    await serve({ lists: { survey_responses: rows } });
    await run(step);
    rows.push(responseRow(5, now));
    await run(step);
    await run(step);
    expect(idsOf(await readFile(step.out, "utf8"))).toEqual(everyId(5));
  });

  it.each([
    ["nowhere", (since: number) => since > 0],
    ["everywhere", () => false],
  ])("finds new rows that bear no time of change where a service lists them %s among changes", async (_, hides) => {
    const rows = someRows(12).map((row) => Object.assign(row, { updated_at: null }));
    const { requests } = await serve({
      lists: { survey_responses: rows },
      onRequest: ({ query }) => {
        const since = Number(query.get("updated_since") ?? 0);
        if (since === 0) return null;
        const changed = rows.filter((row) =>
          row.updated_at === null ? !hides(since) : Number(row.updated_at) >= since,
        );
        const first = (Number(query.get("page") ?? 1) - 1) * 5;
        return { status: 200, body: JSON.stringify(changed.slice(first, first + 5)) };
      },
    });
    await run(step);
    const now = Math.floor(Date.now() / 1000);
    rows.push(Object.assign(responseRow(13, now), { updated_at: null }));
    Object.assign(rows[2] ?? {}, { updated_at: now });
    await run(step);
    await run(step);
    expect(idsOf(await readFile(step.out, "utf8")).toSorted()).toEqual([...everyId(13), "3"].toSorted());
    expect(requests.length).toBeLessThan(70);
  });

  it("writes the second of two edits within a second", async () => {
    const now = Math.floor(Date.now() / 1000);
    const row = responseRow(1, START, { comment: "first", updated_at: now });
    await serve({ lists: { survey_responses: [row] } });
    await run(step);
    row.comment = "second";
    await run(step);
    const comments = cellsOf(await readFile(step.out, "utf8"), "comment");
    expect(comments).toEqual(["first", "second"]);
  });

  it("writes the new rows alone without --append", async () => {
    const rows = someRows(3);
    await serve({ lists: { survey_responses: rows } });
    const flags = { out: step.out, state: step.state };
    await run(flags);
    rows.push(responseRow(4, Math.floor(Date.now() / 1000)));
    await run(flags);
    expect(idsOf(await readFile(step.out, "utf8"))).toEqual(["4"]);
  });

  it("adds a member to a gzip file", async () => {
    const rows = someRows(3);
    await serve({ lists: { survey_responses: rows } });
    const flags = { ...step, out: at("r.csv.gz") };
    await run(flags);
    rows.push(responseRow(4, Math.floor(Date.now() / 1000)));
    await run(flags);
    expect(idsOf(gunzipSync(await readFile(flags.out)).toString())).toEqual(everyId(4));
  });

  it("adopts what a run wrote that died before its state was written", async () => {
    const rows = someRows(7);
    await serve({ lists: { survey_responses: rows } });
    await run(step);
    const before = await readFile(step.state, "utf8");
    rows.push(responseRow(8, Math.floor(Date.now() / 1000)));
    await run(step);
    await writeFile(step.state, announced(before, await readFile(step.state, "utf8")));
    await run(step);
    expect(idsOf(await readFile(step.out, "utf8"))).toEqual(everyId(8));
  });

  it("writes again what a run announced that died before it wrote", async () => {
    const rows = someRows(7);
    await serve({ lists: { survey_responses: rows } });
    await run(step);
    const [file, before] = [await readFile(step.out), await readFile(step.state, "utf8")];
    rows.push(responseRow(8, Math.floor(Date.now() / 1000)));
    await run(step);
    await writeFile(step.state, announced(before, await readFile(step.state, "utf8")));
    await writeFile(step.out, file);
    await run(step);
    expect(idsOf(await readFile(step.out, "utf8"))).toEqual(everyId(8));
  });

  it("never cuts off what another export added to the same file", async () => {
    const rows = someRows(7);
    await serve({ lists: { survey_responses: rows } });
    await run(step);
    await run({ out: step.out, append: true });
    const both = await readFile(step.out, "utf8");
    rows.push(responseRow(8, Math.floor(Date.now() / 1000)));
    await expect(run(step)).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("bytes that were not written with this state") as string,
    });
    expect(await readFile(step.out, "utf8")).toBe(both);
  });

  it.each<[string, () => Parameters<typeof run>]>([
    ["another account", () => [step, { apiKey: "another" }]],
    ["other filters", () => [{ ...step, trend: 5 }]],
    ["other columns", () => [step, { options: { columns: ["id"] } }]],
    ["another format", () => [step, { options: { excel: true } }]],
  ])("refuses the state of %s before anything is asked", async (reason, args) => {
    const { requests } = await serve({ lists: { survey_responses: someRows(3) } });
    await run(step);
    const before = [requests.length, await readFile(step.out, "utf8"), await readFile(step.state, "utf8")];
    await expect(run(...args())).rejects.toThrow(`belongs to ${reason}`);
    expect([requests.length, await readFile(step.out, "utf8"), await readFile(step.state, "utf8")]).toEqual(before);
  });

  it("refuses to run twice at once", async () => {
    const seconds: Promise<unknown>[] = [];
    await serve({
      lists: { survey_responses: someRows(40) },
      onRequest: async ({ n }) => {
        if (n === 1) seconds.push(run(step).catch((error: unknown) => error));
        await seconds[0];
        return null;
      },
    });
    await run(step);
    expect(await seconds[0]).toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("is held by another run") as string,
    });
    expect(await readdir(folder)).toEqual(["r.csv", "r.state"]);
  });

  it("cuts nothing off a file that is not the one that it added to", async () => {
    await serve({ lists: { survey_responses: someRows(3) } });
    await run(step);
    await writeFile(at("other.csv"), "x\n".repeat(2000));
    await expect(run({ ...step, out: at("other.csv") })).rejects.toThrow("bytes that were not written with this state");
    expect((await stat(at("other.csv"))).size).toBe(4000);
  });

  it("refuses a file that is shorter than it was", async () => {
    await serve({ lists: { survey_responses: someRows(3) } });
    await run(step);
    await writeFile(step.out, "");
    await expect(run(step)).rejects.toThrow("has 0 bytes, but");
  });
});

it.each<[string, FlagWords, FakeOptions, string]>([
  ["a table", { output: "table" }, {}, "--output table"],
  ["a checksum of stdout", { checksum: true }, {}, "--checksum requires --out"],
  ["adding to stdout", { append: true }, {}, "--append requires --out"],
  ["adding to an array", { append: true, out: "r.json" }, {}, "--append cannot add to a JSON array"],
  ["flat JSON", { flatten: true, output: "json" }, {}, "--flatten adds columns"],
  ["an unknown column", {}, { options: { columns: ["scor"] } }, '"scor" is not a column of responses'],
  ["binary data on a terminal", { gzip: true }, { width: 80 }, "--gzip writes binary data"],
  ["Parquet on a terminal", { output: "parquet" }, { width: 80 }, "-o parquet writes binary data"],
])("refuses %s", async (_, flags, more, message) => {
  const { requests } = await serve({ lists: {} });
  await expect(run(flags, more)).rejects.toThrow(message);
  expect(requests).toEqual([]);
});
