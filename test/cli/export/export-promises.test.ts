import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { runInProcess, type Finished } from "../../helpers/in-process.ts";
import {
  responseRow,
  startListService,
  type ListService,
  type ListServiceOptions,
} from "../../helpers/list-service.ts";

const START = 1_760_000_000;

let folder = "";
let service: ListService | null = null;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-promises-"));
});
afterEach(async () => {
  await service?.stop();
  service = null;
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string): string => path.join(folder, name);
const someRows = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => responseRow(index + 1, START + index * 60));

async function serve(options: Partial<ListServiceOptions> & { readonly rows?: JsonObject[] }): Promise<ListService> {
  service = await startListService({ lists: { survey_responses: options.rows ?? [] }, ...options });
  return service;
}

const run = (line: string, columns?: number): Promise<Finished> =>
  runInProcess({
    args: line.split(" ").map((word) => word.replace("@", `${folder}/`)),
    env: service?.env ?? {},
    ...(columns !== undefined && { columns }),
  });

describe("rows that may be missing", () => {
  it.each(["responses", "people"])(
    "are an error where all %s lie outside the range, and the old file stays",
    async (noun) => {
      const rows = someRows(230);
      await serve({ lists: { survey_responses: rows, people: rows }, ignoresTimes: true });
      await writeFile(at("r.csv"), "old\n");
      const ended = await run(`${noun} export --since 2026-01-01 --out @r.csv`);
      expect(ended).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("none of the 230 rows that the service sent is in the requested") as string,
      });
      expect(await readFile(at("r.csv"), "utf8")).toBe("old\n");
    },
  );

  it("are warned of under --quiet where the service counts more than it sent", async () => {
    const body = '{"nps":0,"response_count":1000}';
    const onRequest = ({ path: where }: { path: string }) => (where.includes("metrics") ? { status: 200, body } : null);
    await serve({ rows: someRows(12), onRequest });
    const ended = await run("responses export --quiet --out @r.csv");
    expect(ended).toMatchObject({
      status: 0,
      stderr: "warning: 988 responses may be missing: the metrics count 1000, and 12 were exported\n".replace(
        "1000",
        "1,000",
      ),
    });
  });

  it("are an error where the list is empty and the metrics count some", async () => {
    const body = '{"nps":10,"response_count":230}';
    const onRequest = ({ path: where }: { path: string }) => (where.includes("metrics") ? { status: 200, body } : null);
    await serve({ onRequest });
    await writeFile(at("r.csv"), "id\n1\n");
    expect(await run("responses export --out @r.csv")).toMatchObject({
      status: 1,
      stderr:
        `error: 230 responses may be missing: the metrics count 230, and 0 were sent; ${at("r.csv")} is unchanged\n` +
        "hint: to take what the service sent, use another --out file\n",
    });
    expect(await readFile(at("r.csv"), "utf8")).toBe("id\n1\n");
  });

  it("are none where the list is empty and the metrics count none", async () => {
    const body = '{"nps":null,"response_count":0}';
    const onRequest = ({ path: where }: { path: string }) => (where.includes("metrics") ? { status: 200, body } : null);
    await serve({ onRequest });
    await writeFile(at("r.csv"), "id\n1\n");
    expect(await run("responses export --quiet --columns id --out @r.csv")).toMatchObject({ status: 0, stderr: "" });
    expect(await readFile(at("r.csv"), "utf8")).toBe("id\n");
  });

  it("are an error where a file would be replaced, and a warning where it is appended to or new", async () => {
    const body = '{"nps":0,"response_count":1000}';
    const onRequest = ({ path: where }: { path: string }) => (where.includes("metrics") ? { status: 200, body } : null);
    await serve({ rows: someRows(12), onRequest });
    await writeFile(at("r.csv"), "id\n1\n");
    const replaced = await run("responses export --quiet --columns id --state @state --out @r.csv");
    expect(replaced).toMatchObject({
      status: 1,
      stderr:
        `error: 988 responses may be missing: the metrics count 1,000, and 12 were sent; ${at("r.csv")} is unchanged\n` +
        "hint: to take what the service sent, use another --out file\n",
    });
    expect(await readFile(at("r.csv"), "utf8")).toBe("id\n1\n");
    expect(existsSync(at("state"))).toBe(false);
    const appended = await run("responses export --quiet --columns id --append --out @r.csv");
    expect(appended).toMatchObject({ status: 0, stderr: expect.stringContaining("warning: 988 ") as string });
    const printed = await run("responses export --quiet --columns id");
    expect(printed).toMatchObject({ status: 0, stderr: expect.stringContaining("warning: 988 ") as string });
  });

  it("are no more than what changed meanwhile where the count moves", async () => {
    let counted = 13;
    const onRequest = ({ path: where }: { path: string }) => {
      if (!where.includes("metrics")) return null;
      counted -= 1;
      return { status: 200, body: `{"nps":0,"response_count":${counted + 1}}` };
    };
    await serve({ rows: someRows(12), onRequest });
    const { stderr } = await run("responses export --out @r.csv");
    expect(stderr).toContain("; the metrics count 12 to 13; data changed during the export\n");
    expect(stderr).not.toContain("warning");
  });

  it("are read where a page in the middle is short", async () => {
    const rows = someRows(24);
    await serve({
      onRequest: ({ path: where, query }) => {
        if (where.includes("metrics")) return null;
        const inRange = rows.filter(
          ({ created_at: time }) =>
            Number(time) >= Number(query.get("since") ?? 0) && Number(time) <= Number(query.get("until") ?? Infinity),
        );
        const first = (Number(query.get("page")) - 1) * 5;
        const page = inRange.slice(first, first + 5).filter(({ id }) => Number(id) % 6 !== 0);
        return { status: 200, body: JSON.stringify(page) };
      },
    });
    const { stdout } = await run("responses export --columns id --per-page 5");
    const sent = Array.from({ length: 24 }, (_, index) => index + 1).filter((id) => id % 6 !== 0);
    expect(stdout).toBe(`id\n${sent.join("\n")}\n`);
  });
});

describe("--append", () => {
  const HEADER = "id,score\n";
  it.each([
    ["other columns", "r.csv", "id,comment\n1,x\n", "its columns are id,comment, not id,score"],
    ["more columns", "r.csv", "id,score,comment\n", "it has more columns"],
    ["other line ends", "r.csv", "id,score\r\n1,5\r\n", "its lines end in another way"],
    ["no compression", "r.csv.gz", HEADER, "it is not compressed"],
    ["fewer fields", "r.tsv", "1\n", "its rows have 1 fields, not 2"],
    ["other keys", "r.ndjson", '{"id":"1","email":"a@x.com"}\n', "its columns are id,email, not id,score"],
    ["no JSON", "r.ndjson", "id,score\n", "it does not hold JSON objects"],
  ])("is refused for a file with %s, before any request", async (_, name, text, problem) => {
    const { requests } = await serve({ rows: someRows(3) });
    await writeFile(at(name), text);
    const ended = await run(`responses export --columns id,score --append --out @${name}`);
    expect(ended).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`cannot be added to: ${problem}`) as string,
    });
    expect([requests.length, await readFile(at(name), "utf8")]).toEqual([0, text]);
  });

  it("is refused for rows of another resource", async () => {
    await serve({ rows: someRows(3) });
    await writeFile(at("r.ndjson"), `${JSON.stringify({ id: "1", email: "a@x.com", created_at: START })}\n`);
    expect(await run("responses export --append --out @r.ndjson")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("its rows are not responses") as string,
    });
  });

  it.each([
    ["r.csv", "id,score\n1,1\n", false],
    ["r.csv", "\ufeffid,score\n1,1\n", false],
    ["r.csv.gz", "id,score\n1,1\n", true],
  ])("adds to %s, which begins with %j", async (name, text, isCompressed) => {
    await serve({ rows: someRows(3) });
    await writeFile(at(name), isCompressed ? gzipSync(text) : text);
    expect(await run(`responses export --columns id,score --append --out @${name}`)).toMatchObject({ status: 0 });
  });

  it("adds NDJSON to what it wrote", async () => {
    await serve({ rows: someRows(3) });
    for (let time = 0; time < 2; time += 1)
      expect(await run("responses export --append --out @r.ndjson")).toMatchObject({ status: 0 });
    expect((await readFile(at("r.ndjson"), "utf8")).trimEnd().split("\n")).toHaveLength(6);
  });
});

describe("--state", () => {
  it("sees edits of tags, notes and answers in the last second", async () => {
    const rows = someRows(3);
    await serve({ rows });
    const line = "responses export --columns id --append --out @r.csv --state @r.state";
    await run(line);
    Object.assign(rows[0] ?? {}, { tags: ["vip"] });
    await run(line);
    Object.assign(rows[1] ?? {}, { notes: [{ id: "1", text: "called" }] });
    await run(line);
    Object.assign(rows[2] ?? {}, { additional_answers: [{ id: "1" }] });
    await run(line);
    await run(line);
    expect(await readFile(at("r.csv"), "utf8")).toBe("id\n1\n2\n3\n1\n2\n3\n");
  });

  it("is refused where the file has rows that it does not know, unless --since leaves them out", async () => {
    const { requests } = await serve({ rows: someRows(3) });
    await writeFile(at("r.csv"), "id\n1\n");
    const line = "responses export --columns id --append --out @r.csv --state @r.state";
    const before = requests.length;
    expect(await run(line)).toMatchObject({
      status: 2,
      stdout: "",
      stderr:
        `error: --append: ${at("r.csv")} is not empty, and ${at("r.state")} does not say yet which rows it holds\n` +
        "hint: use --since to export only what it lacks, or another --out file\n",
    });
    expect([requests.length, await readFile(at("r.csv"), "utf8")]).toEqual([before, "id\n1\n"]);
    expect((await run(`${line} --since 1970-01-02`)).status).toBe(0);
    await writeFile(at("empty.csv"), "");
    expect((await run(line.replaceAll("@r.", "@empty."))).status).toBe(0);
    expect(await readFile(at("empty.csv"), "utf8")).toBe("id\n1\n2\n3\n");
  });

  it.each([
    ["a link to it", async () => symlink("r.csv", at("r.state"))],
    ["a link of the file", async () => symlink("r.state", at("r.csv"))],
    ["a folder's link", async () => symlink(".", at("here"))],
  ])("is refused where it is the target by %s", async (name, link) => {
    const { requests } = await serve({ rows: someRows(3) });
    await link();
    const state = name === "a folder's link" ? "@here/r.csv" : "@r.state";
    const ended = await run(`responses export --out @r.csv --state ${state}`);
    expect(ended).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("is the file that the export writes") as string,
    });
    expect(requests).toEqual([]);
  });

  it("is refused where it is ahead of the service's clock", async () => {
    await serve({ rows: someRows(3) });
    const line = "responses export --columns id --append --out @r.csv --state @r.state";
    await run(line);
    const [file, state] = [await readFile(at("r.csv"), "utf8"), await readFile(at("r.state"), "utf8")];
    await writeFile(at("r.state"), state.replace(/"until":\d+/, `"until":${Math.floor(Date.now() / 1000) + 4000}`));
    expect(await run(line)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("is ahead of the service's clock") as string,
    });
    expect(await readFile(at("r.csv"), "utf8")).toBe(file);
  });

  it("is not waited for where it is a pipe", async () => {
    const { requests } = await serve({ rows: someRows(3) });
    execFileSync("mkfifo", [at("r.state")]);
    expect(await run("responses export --state @r.state --out @r.csv")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("r.state is not a regular file") as string,
    });
    expect(requests).toEqual([]);
  });
});

describe("cells", () => {
  const digits = "12345678901234567890";
  const long = (): string =>
    `[${JSON.stringify(responseRow(1, START)).replace('"id":"1"', `"id":${digits}`).replace('"plan":"pro"', `"plan":-${digits},"b":["${digits}",1]`)}]`;
  const answerOnce = ({ path: where, query }: { path: string; query: URLSearchParams }) =>
    where.includes("metrics") ? null : { status: 200, body: query.get("page") === "1" ? long() : "[]" };

  it("keep digits that no number type holds", async () => {
    await serve({ onRequest: answerOnce });
    const map = `"{""plan"":-${digits},""b"":[""${digits}"",1]}"`;
    for (const line of ["responses export", "responses list -o csv"])
      expect((await run(`${line} --columns id,person_properties`)).stdout).toBe(
        `id,person_properties\n${digits},${map}\n`,
      );
    expect((await run("responses list -o tsv --columns id")).stdout).toBe(`${digits}\n`);
    expect((await run("responses export --columns person_properties.plan")).stdout).toBe(
      `person_properties.plan\n-${digits}\n`,
    );
  });

  it.each(["people export", "people list -o csv"])("are made for Excel by --excel (%s)", async (command) => {
    const names = ["=1+1", "'=1+1", "it's"];
    const phones = ["+14155550101", "+1;cmd", "'+1"];
    const people = names.map((name, index) => ({
      id: String(index),
      name,
      phone_number: phones[index] ?? "",
      created_at: START,
    }));
    await serve({ lists: { people } });
    const { stdout } = await run(`${command} --excel --columns name,phone_number`);
    expect(stdout).toBe("\ufeffname,phone_number\r\n'=1+1,+14155550101\r\n''=1+1,'+1;cmd\r\nit's,''+1\r\n");
  });

  it.each(["people list -o json --excel", "people export -o ndjson --excel", "people list -o table --excel"])(
    "of another format are refused --excel (%s)",
    async (line) => {
      const { requests } = await serve({});
      expect(await run(line)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("--excel is for csv and tsv") as string,
      });
      expect(requests).toEqual([]);
    },
  );

  it.each(["r.xlsx", "R.XLS", "r.xlsx.gz", "r.xlsb"])("of a workbook are refused (%s)", async (name) => {
    await serve({});
    expect(await run(`people export --out @${name}`)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /^error: --out .*: Excel workbooks cannot be written\nhint: use a name that ends in .csv: Excel opens that\n$/,
      ) as string,
    });
  });
});

describe("files for Excel", () => {
  const CELLS = "\ufeffid,email,name";

  it.each(["people list --excel", "people list --excel --all"])("are CSV wherever they go (%s)", async (line) => {
    const people = [{ id: "1", email: "a@x.com", name: "=1", created_at: START }];
    await serve({ lists: { people } });
    for (const columns of [undefined, 200])
      expect((await run(`${line} --columns id,email,name`, columns)).stdout).toBe(`${CELLS}\r\n1,a@x.com,'=1\r\n`);
  });

  it("are TSV only where that is asked for by name, and the environment does not count as that", async () => {
    await serve({ lists: { people: [{ id: "1", email: "a@x.com", created_at: START }] } });
    const line = "people list --excel --columns id,email";
    expect((await run(`${line} -o tsv`)).stdout).toBe("\ufeff1\ta@x.com\n");
    const env = { ...service?.env, SURVEYCTL_OUTPUT: "ndjson" };
    expect((await runInProcess({ args: line.split(" "), env })).stdout).toBe("\ufeffid,email\r\n1,a@x.com\r\n");
    await run("people export --excel --columns id,email --out @p.tsv");
    expect(await readFile(at("p.tsv"), "utf8")).toBe("\ufeff1\ta@x.com\n");
  });

  it("are what api writes for --excel", async () => {
    await serve({ lists: { people: [{ id: "1", email: "a@x.com", created_at: START }] } });
    expect((await run("api /v1/people.json --excel --columns id,email")).stdout).toBe(
      "\ufeffid,email\r\n1,a@x.com\r\n",
    );
  });
});

describe("the closing line", () => {
  it("is short on a terminal, complete with --verbose", async () => {
    await serve({ rows: someRows(2) });
    const short = await run("responses export --tz UTC --out @r.csv", 200);
    expect(short.stderr.replaceAll("\r", "")).toContain(
      `Exported 2 responses to ${at("r.csv")} (450 B, 2025-10-09 08:53:20 – 2025-10-09 08:54:20); count verified\n`.replace(
        "450 B",
        `${(await readFile(at("r.csv"))).length} B`,
      ),
    );
    expect(short.stderr).not.toContain("sha256");
    expect((await run("responses export --out @r.csv --verbose", 200)).stderr).toMatch(/sha256 [0-9a-f]{64}\)/);
  });

  it("names the range that was asked for, with the first and the last row where it is complete", async () => {
    await serve({ rows: someRows(2) });
    const line = "responses export --tz Europe/Berlin --period 2025-10 --out @r.csv";
    const short = (await run(line, 200)).stderr.replaceAll("\r", "");
    expect(short).toContain(" B, since 2025-10-01 00:00:00 until 2025-10-31 23:59:59); count verified\n");
    expect((await run(line)).stderr).toMatch(
      / B, since 2025-09-30T22:00:00Z until 2025-10-31T22:59:59Z, rows 2025-10-09T08:53:20Z – 2025-10-09T08:54:20Z, sha/,
    );
    expect((await run(`${line} --time unix`)).stderr).toContain(
      " B, since 1759269600 until 1761951599, rows 1760000000 – ",
    );
    expect((await run("responses export --since 2025-10-09 --out @r.csv", 200)).stderr).toContain(
      " B, since 2025-10-09 00:00:00); ",
    );
  });

  it("names where a run that continues began", async () => {
    await serve({ rows: someRows(2) });
    await run("responses export --state @state --out @r.csv");
    expect((await run("responses export --state @state --out @r.csv")).stderr).toMatch(/ B, since \d{4}-.*Z, sha256/);
  });

  it("counts one thing in the singular", async () => {
    const person = { id: "1", email: "a@x.com", created_at: START };
    await serve({ lists: { people: [person], bounces: [{ person_id: "1", bounced_at: START }] } });
    expect((await run("people export --out @p.csv")).stderr).toMatch(/^Exported 1 person to /);
    expect((await run("bounces export --out @b.csv")).stderr).toMatch(/^Exported 1 bounce to /);
  });
});

it("says of a folder that takes no files that it takes none", async () => {
  await serve({});
  expect(await run("responses export --out /proc/x.csv")).toMatchObject({
    status: 2,
    stderr: "error: cannot write /proc/x.csv: files cannot be created in /proc\n",
  });
});
