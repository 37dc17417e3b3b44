import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { readTagWords } from "../../../../src/cli/commands/responses/change/tag.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { type Finished, runInProcess, type RunningInside, startInside } from "../../../helpers/in-process.ts";
import type { Ended } from "../../../helpers/run-cli.ts";
import { listening } from "../../../helpers/misbehaving-server.ts";
import { createServer, type Server, type ServerResponse } from "node:http";

interface Stored {
  tags: unknown[];
  notes: { text: string }[];
}

type Manner = "take" | "echo" | "ignore" | "lose" | "refuse" | "objects" | "stop";

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const send = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

async function serve(manner: Manner, ids = ["1"]) {
  const running: { command?: RunningInside } = {};
  const stored = new Map(ids.map((id): [string, Stored] => [id, { tags: ["old"], notes: [] }]));
  if (manner === "objects") for (const row of stored.values()) row.tags = [{ name: "old" }];
  const seen: string[] = [];
  const load = { now: 0, most: 0 };
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      load.now += 1;
      load.most = Math.max(load.most, load.now);
      setTimeout(() => {
        load.now -= 1;
        const id = /(\w+)\.json/.exec(request.url ?? "")?.[1] ?? "";
        const row = stored.get(id);
        seen.push(`${request.method} ${id}`);
        if (row === undefined) return send(response, 404, { status: 404, message: "Not Found" });
        const whole = (): JsonObject => ({ id, person: "7", score: 3, ...(row as unknown as JsonObject) });
        if (request.method === "GET") return send(response, 200, whole());
        const body = JSON.parse(Buffer.concat(chunks).toString()) as { tags?: string[]; notes?: string };
        if (manner === "refuse") return send(response, 405, { status: 405, message: "Method Not Allowed" });
        if (manner === "echo") return send(response, 200, { ...whole(), ...(body as JsonObject) });
        if (manner === "ignore") return send(response, 200, whole());
        if (body.tags !== undefined) row.tags = manner === "objects" ? body.tags.map((name) => ({ name })) : body.tags;
        if (body.notes !== undefined) row.notes.push({ text: body.notes });
        if (manner === "lose") return request.socket.destroy();
        if (manner === "stop") return running.command?.child.kill("SIGINT");
        return send(response, 200, whole());
      }, 5);
    });
  });
  const env = { SURVEYCTL_BASE_URL: `http://127.0.0.1:${await listening(server)}`, SURVEYCTL_API_KEY: "key" };
  const type = (...args: string[]): Promise<Finished> => runInProcess({ args: ["responses", ...args], env });
  const start = (...args: string[]): Promise<Ended> => {
    running.command = startInside({ args: ["responses", ...args], env, home: tmpdir() });
    return running.command.ended;
  };
  return { type, start, stored, seen, load };
}

describe("responses tag", () => {
  it.each<[Manner, number, string, string]>([
    ["take", 0, '1\tchanged\t["old","new"]\t\n', ""],
    ["objects", 0, '1\tchanged\t[{"name":"old"},{"name":"new"}]\t\n', ""],
    [
      "echo",
      5,
      "1\tfailed\t\tthe service did not take the change of response 1\n",
      "error: the service did not take the change of response 1\nhint: it may not support such changes\n",
    ],
    [
      "ignore",
      5,
      "1\tfailed\t\tthe service did not take the change of response 1\n",
      "error: the service did not take the change of response 1\nhint: it may not support such changes\n",
    ],
    [
      "refuse",
      5,
      "1\tfailed\t\tthis service cannot change responses\n",
      "error: this service cannot change responses\nhint: surveyctl responses get ID shows them\n",
    ],
  ])("when a service answers by %s, then the status is %i", async (manner, status, stdout, stderr) => {
    const { type } = await serve(manner);
    const { screen: _, ...finished } = await type("tag", "1", "+new", "-spam");
    expect(finished).toEqual({ status, stdout, stderr });
  });

  it("when there are many ids, then few requests run at once and each has its line, in order", async () => {
    const ids = Array.from({ length: 60 }, (_, index) => String(index + 1));
    const { type, load, stored } = await serve(
      "take",
      ids.filter((id) => id !== "30"),
    );
    const { status, stdout, stderr } = await type(
      "tag",
      "--concurrency",
      "4",
      "--columns",
      "id,outcome",
      ...ids,
      "-old",
    );
    const lines = ids.map((id) => `${id}\t${id === "30" ? "failed" : "changed"}\n`);
    expect([status, stdout, stderr.split("\n").length]).toEqual([5, lines.join(""), 2]);
    expect([load.most <= 4, [...stored.values()].every(({ tags }) => tags.length === 0)]).toEqual([true, true]);
  });

  it("when tags are given by flags before the ids, then they are added and removed too", async () => {
    const { type, stored } = await serve("take");
    const { status } = await type("tag", "--add", "new", "--remove", "old", "1");
    expect([status, stored.get("1")?.tags]).toEqual([0, ["new"]]);
  });

  it("when nothing has to change, then nothing is sent", async () => {
    const { type, seen } = await serve("take");
    expect([(await type("tag", "1", "+old")).stdout, seen]).toEqual(['1\tunchanged\t["old"]\t\n', ["GET 1"]]);
  });

  it.each([
    [["1", "2", "1", "+a", "-b", "+a"], { ids: ["1", "2"], add: ["a"], remove: ["b"] }],
    [["+a b", "1"], { ids: ["1"], add: ["a b"], remove: [] }],
    [["1", "--add", "a", "--remove=b", "2", "--add", "-c"], { ids: ["1", "2"], add: ["a", "-c"], remove: ["b"] }],
  ])("when the words are %j, then they mean %j", (words, expected) => {
    expect(readTagWords(words)).toEqual(expected);
  });

  it.each([
    [["1"], "responses tag: specify a tag to add, as in +billing, or to remove, as in -spam"],
    [["1", "--add"], "--add: a value is required"],
    [["1", "+"], "responses tag: a tag is missing after + or -"],
    [["1", "-a", "+a"], "responses tag: +a and -a cannot be used together"],
    [["1", "+a", "--json"], "responses tag: --json must come before the ids"],
  ])("when the words are %j, then they are refused", (words, message) => {
    expect(() => readTagWords(words)).toThrow(message);
  });
});

describe("responses note", () => {
  it("when the answer is lost, then the note is looked up and not sent again", async () => {
    const { type, seen, stored } = await serve("lose");
    const { status, stdout } = await type("note", "1", "called", "--columns", "outcome", "--retries", "3");
    expect([status, stdout, seen, stored.get("1")?.notes]).toEqual([
      0,
      "changed\n",
      ["GET 1", "PUT 1", "GET 1"],
      [{ text: "called" }],
    ]);
  });

  it("when a signal ends the wait for the answer, then it says that the note may be there", async () => {
    const { start } = await serve("stop");
    const { status, stderr } = await start("note", "1", "called");
    const hint = 'the request may have been processed: look with "surveyctl responses show 1" before trying again';
    expect([status, stderr]).toEqual([130, `Interrupted.\nhint: ${hint}\n`]);
  });

  it("when a service ignores it, then the status is 5", async () => {
    const { type } = await serve("ignore");
    expect((await type("note", "1", "called")).status).toBe(5);
  });
});
