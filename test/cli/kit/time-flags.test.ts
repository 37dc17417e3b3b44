import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runInProcess } from "../../helpers/in-process.ts";
import { responseRow, startListService } from "../../helpers/list-service.ts";

const LISTS = ["people", "responses", "bounces", "unsubscribes"];
const COMMANDS = [...LISTS.flatMap((noun) => [`${noun} list`, `${noun} export`]), "metrics", "metrics --by month"];

describe("a range that ends before it starts", () => {
  it.each([
    ...COMMANDS.map((command) => [command, "--since", "--until"]),
    ["responses list", "--updated-since", "--updated-until"],
    ["responses export", "--updated-since", "--updated-until"],
  ])("is refused by %s (%s) before any request", async (command, since, until) => {
    const service = await startListService({ lists: {} });
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-range-"));
    const file = path.join(folder, "good.csv");
    await writeFile(file, "id\n1\n");
    const args = [...command.split(" "), since, "2026-05-01", until, "2026-04-01", "--tz", "UTC"];
    const out = command.endsWith("export") ? ["--out", file] : [];
    const ended = await runInProcess({ args: [...args, ...out], env: service.env });
    expect({ ...ended, requests: service.requests }).toMatchObject({ status: 2, stdout: "", requests: [] });
    expect(ended.stderr).toContain(`error: ${until} (2026-04-01T23:59:59Z) is before ${since} (2026-05-01T00:00:00Z)`);
    expect(await readFile(file, "utf8")).toBe("id\n1\n");
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it.each(["metrics --compare previous", "metrics --segment plan --compare previous", "report --out -", "digest"])(
    "is refused by %s where its end is now",
    async (command) => {
      const service = await startListService({ lists: {} });
      const args = [...command.split(" "), "--since", "2099-05-01", "--tz", "UTC"];
      const { status, stdout, stderr } = await runInProcess({ args, env: service.env });
      const said = "error: --since (2099-05-01T00:00:00Z) is in the future\n";
      expect([status, stdout, stderr, service.requests]).toEqual([2, "", said, []]);
      await service.stop();
    },
  );

  it("is a range of one second where both ends are the same", async () => {
    const service = await startListService({ lists: { survey_responses: [responseRow(1, 1_760_000_000)] } });
    const args = ["responses", "list", "--since", "1760000000", "--until", "1760000000", "--columns", "id"];
    expect(await runInProcess({ args, env: service.env })).toMatchObject({ status: 0, stdout: "1\n" });
    await service.stop();
  });
});

describe("--period", () => {
  it.each(["people list", "responses list", "bounces list", "unsubscribes list", "metrics", "responses export"])(
    "gives %s both ends",
    async (command) => {
      const service = await startListService({ lists: {} });
      const args = [...command.split(" "), "--period", "2026-05", "--tz", "Europe/Berlin"];
      expect(await runInProcess({ args, env: service.env })).toMatchObject({ status: 0 });
      const { query } = service.requests[0] ?? { query: new URLSearchParams() };
      expect([query.get("since"), query.get("until")]).toEqual(["1777586400", "1780264799"]);
      await service.stop();
    },
  );

  it.each(["--since", "--until"])("is refused beside %s", async (flag) => {
    const args = ["metrics", "--period", "last-month", flag, "2026-05-01"];
    expect(await runInProcess({ args })).toMatchObject({
      status: 2,
      stdout: "",
      stderr: `error: --period and ${flag} cannot be used together\n`,
    });
  });

  it("is echoed with -v, and only then", async () => {
    const service = await startListService({ lists: {} });
    const args = ["bounces", "list", "--period", "2026-Q1", "--tz", "Europe/Berlin"];
    const [plain, verbose] = [
      await runInProcess({ args, env: service.env }),
      await runInProcess({ args: [...args, "-v"], env: service.env }),
    ];
    expect(plain.stderr).toBe("");
    expect(verbose.stderr.split("\n")[0]).toBe(
      "note: --since 2026-01-01 00:00:00, --until 2026-03-31 23:59:59 (Europe/Berlin)",
    );
    await service.stop();
  });
});

describe("the end of a rehearsal", () => {
  it.each([
    [[], "error: --until is required\nhint: as in: surveyctl service rehearse --until 365d --data survey.db\n"],
    [["--until", "0d"], 'error: --until: "0d" is not a duration such as 365d, or a later time\n'],
  ])("is asked for, and lies in the future: %j", async (flags, stderr) => {
    const args = ["service", "rehearse", ...flags, "--data", "none.db"];
    expect(await runInProcess({ args })).toMatchObject({ status: 2, stdout: "", stderr });
  });
});
