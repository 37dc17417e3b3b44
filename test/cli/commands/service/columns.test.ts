/** `--columns` is checked before a command does anything, such as creating a key that nobody would see. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInside } from "../../../helpers/in-process.ts";

let home = "";
let data = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-columns-"));
  data = path.join(home, ".local/share/surveyctl/local.db");
  await runInside({ args: ["people", "list", "--profile", "local"], home });
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function told(words: string): Promise<string> {
  return (await runInside({ args: ["service", ...words.split(" "), "--data", data], home })).stdout;
}

async function everything(): Promise<readonly unknown[]> {
  const looks = ["settings -o yaml", "key list", "project list", "link list", "share list", "delivery status"];
  const texts: string[] = [];
  for (const look of looks) texts.push(await told(look));
  return [texts, await readdir(home)];
}

it("when a column is none of the command's, then nothing is done", async () => {
  const lines = [
    "key add --name ci",
    "key rotate 1",
    "key revoke 1 --yes",
    "project add acme",
    "link add Checkout",
    "share add Board",
    "digest add boss@example.com --every monday",
    "digest test https://hooks.example.com/x",
    "throttle 7d",
    "settings --sender-name Acme",
    "pause",
    "retention --responses 5y --delete --yes",
    "erase ada@example.com --yes",
    `backup ${path.join(home, "copy.db")}`,
    "vacuum",
  ];
  const before = await everything();
  for (const line of lines) {
    const args = ["service", ...line.split(" "), "--columns", "nonsense", "--data", data];
    const { status, stdout, stderr } = await runInside({ args, home });
    expect([line, status, stdout, stderr.split(";")[0]]).toEqual([
      line,
      2,
      "",
      expect.stringMatching(/^error: --columns: "nonsense" is not a column of [\w -]+$/),
    ]);
  }
  expect(await everything()).toEqual(before);
});
