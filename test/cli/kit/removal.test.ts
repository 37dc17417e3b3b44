/** Commands that remove something ask on a terminal and require `--yes` elsewhere. */
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { readCommands } from "../../helpers/command-tree.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

/** Includes names that no command has yet. */
const REMOVES =
  /^(remove|rm|revoke|erase|delete|cancel|unsubscribe|retention|clean|clear|purge|prune|drop|logout|forget)$/;

interface RemovalCase {
  /** `ID` stands for the last listed id. */
  readonly args: readonly string[];
  readonly question: RegExp;
  /** Lists what is removed; must not change if the removal is refused. */
  readonly look: readonly string[];
}

const PROJECT = ["--project", "default"];
const service = (...words: string[]): string[] => ["service", ...words];

const CASES: Readonly<Record<string, RemovalCase>> = {
  "autopilot remove": {
    args: ["autopilot", "remove", "--email", "ann@example.com"],
    question: /^Remove ann@example\.com from Autopilot \(email\) at http:\S+\? \[y\/N\] $/,
    look: ["autopilot", "list", "--columns", "person_email"],
  },
  "people delete": {
    args: ["people", "delete", "dan@example.com", "dana@example.com"],
    question: /^Delete 2 people with surveys and responses at http:\S+\? \[y\/N\] $/,
    look: ["people", "list", "--email", "dan@example.com", "--columns", "email"],
  },
  "people cancel": {
    args: ["people", "cancel", "eve@example.com"],
    question: /^Cancel the surveys of eve@example\.com that were not sent yet at http:\S+\? \[y\/N\] $/,
    look: ["people", "list", "--email", "eve@example.com", "--columns", "next_survey_scheduled_at"],
  },
  "people unsubscribe": {
    args: ["people", "unsubscribe", "fay@example.com"],
    question: /^Unsubscribe fay@example\.com from surveys by e-mail at http:\S+\? \[y\/N\] $/,
    look: ["unsubscribes", "list", "--count"],
  },
  "responses delete": {
    args: ["responses", "delete", "ID"],
    question: /^Delete response \d+ at http:\S+\? \[y\/N\] $/,
    look: ["responses", "list", "--email", "cara@example.com", "--columns", "score"],
  },
  "service project remove": {
    args: service("project", "remove", "acme"),
    question:
      /^Remove project acme with 0 people, 0 responses, 1 key, 0 pending surveys\? This can't be undone\. Type acme to confirm: /,
    look: service("project", "list", "--columns", "name"),
  },
  "service key revoke": {
    args: service("key", "revoke", "ID"),
    question: /^Revoke key \d+ "[^"]+" \(…\S{4}\) of project default\? \[y\/N\] $/,
    look: service("key", "list", "--columns", "id"),
  },
  "service trend remove": {
    args: service("trend", "remove", "ID"),
    question: /^Remove trend "Pros"\? Its responses stay\. \[y\/N\] $/,
    look: service("trend", "list", "--columns", "name"),
  },
  "service link remove": {
    args: service("link", "remove", "ID"),
    question: /^Remove link "Shop"\? Nobody can answer there; its responses stay\. \[y\/N\] $/,
    look: service("link", "list", "--columns", "name"),
  },
  "service share remove": {
    args: service("share", "remove", "ID"),
    question: /^Remove the page "Board"\? Its link ends for everybody who has it\. \[y\/N\] $/,
    look: service("share", "list", "--columns", "name"),
  },
  "service webhook remove": {
    args: service("webhook", "remove", "ID"),
    question: /^Remove webhook \d+ \(http:\/\/127\.0\.0\.1:9\/x\) and drop 0 events\? \[y\/N\] $/,
    look: service("webhook", "list", "--columns", "url"),
  },
  "service retention": {
    args: service("retention", "--responses", "5y", "--delete", "--requests", "400d"),
    question: /^Delete 1 response older than \d{4}-\d\d-\d\d, delete 0 surveys older than \d{4}-\d\d-\d\d\? \[y\/N\] $/,
    look: ["responses", "list", "--columns", "score"],
  },
  "service erase": {
    args: service("erase", "ann@example.com"),
    question: /^Erase ann@example\.com from project default: 1 person, 1 response, 1 survey\? \[y\/N\] $/,
    look: ["people", "list", "--columns", "email"],
  },
};

/** Removals that don't ask, with the reason. */
const UNASKED: Readonly<Record<string, string>> = {
  "imports clean": "journals of finished imports alone; the results stay",
  "auth logout": "the key itself stays valid, and `auth login` saves it again",
  "service digest remove": "`service digest add` brings it back",
  "service bounce clear": "takes back a mark, which the next bounce sets again",
};

let served: Served;
beforeAll(async () => {
  served = await startServe();
  const run = async (...args: string[]): Promise<void> => {
    const ended = await served.run(args[0] === "service" ? [...args, ...served.place] : args);
    expect([args.join(" "), ended.status, ended.stderr]).toEqual([args.join(" "), 0, expect.any(String)]);
  };
  await run("autopilot", "add", "--email", "ann@example.com", "--quiet");
  await run("responses", "add", "--email", "ann@example.com", "--score", "3", "--created-at", "2015-01-31");
  for (const name of ["cara", "dan", "dana", "fay"])
    await run("people", "add", "--email", `${name}@example.com`, "--no-send", "--quiet");
  await run("people", "add", "--email", "eve@example.com", "--delay", "2h", "--quiet");
  await run("responses", "add", "--email", "cara@example.com", "--score", "8");
  await run("service", "project", "add", "acme");
  await run("service", "key", "add");
  await run("service", "trend", "add", "Pros", "--where", "plan=pro");
  await run("service", "share", "add", "Board");
  await run("service", "link", "add", "Shop");
  await run("service", "webhook", "add", "http://127.0.0.1:9/x", "--allow-private");
}, 60_000);
afterAll(() => served.stop());

const ids = new Map<string, string>();

async function typed(name: string): Promise<string[]> {
  const { args = [], look = [] } = CASES[name] ?? {};
  if (args.includes("ID") && !ids.has(name)) {
    const listed = await served.run(placed([...look.slice(0, -1), "id"]));
    ids.set(name, listed.stdout.trim().split("\n").at(-1) ?? "");
  }
  return placed(args.map((word) => (word === "ID" ? (ids.get(name) ?? "") : word)));
}

function placed(args: readonly string[]): string[] {
  if (args[0] !== "service") return [...args];
  return [...args, ...(args[1] === "project" ? [] : PROJECT), ...served.place];
}

test("when a command's name says that it removes, then it is one of those that ask, or has its reason", async () => {
  const removing = (await readCommands()).filter(({ name }) => name.split(" ").some((word) => REMOVES.test(word)));
  expect(removing.map(({ name }) => name).sort()).toEqual([...Object.keys(CASES), ...Object.keys(UNASKED)].sort());
  const without = removing.filter(({ name, flags }) => name in CASES && !flags.includes("--yes"));
  expect(without.map(({ name }) => name)).toEqual([]);
});

describe.each(Object.entries(CASES))("%s", (name, { question, look }) => {
  it("when there is no terminal and no --yes, then it exits 2 and nothing is done", async () => {
    const before = (await served.run(placed(look))).stdout;
    expect(before).not.toBe("");
    expect(await served.run(await typed(name))).toEqual({
      status: 2,
      signal: null,
      stdout: "",
      stderr: `error: ${name} requires confirmation, and there is no terminal to ask on; pass --yes\n`,
    });
    expect((await served.run(placed(look))).stdout).toBe(before);
  });

  it("when a terminal declines, then it was asked with the numbers and nothing is done", async () => {
    const before = (await served.run(placed(look))).stdout;
    const env = { ...served.env, HOME: path.join(served.folder, "nobody") };
    const { status, stderr } = await runInProcess({ args: await typed(name), env, columns: 300, stdin: "n\n" });
    // oxlint-disable-next-line no-control-regex -- readline places its cursor
    const asked = stderr.replaceAll(/\u001b\[\d*[A-Z]/g, "").split(/(?<=\[y\/N\] )/);
    expect([status, asked[0]]).toEqual([2, expect.stringMatching(question)]);
    expect((await served.run(placed(look))).stdout).toBe(before);
  });
});

/** Removals of missing things fail the same with and without `--yes`. */
const NOWHERE: readonly (readonly [args: readonly string[], status: number, said: RegExp])[] = [
  [["autopilot", "remove"], 2, /^error: specify exactly one of --person-id, --email or --phone/],
  [["autopilot", "remove", "--email", "no@example.com"], 5, /^error: no@example\.com is not in Autopilot \(email\)/],
  [["people", "delete"], 2, /^error: people delete: name one person or more/],
  [["people", "delete", "no@example.com"], 5, /^error: no person found with email no@example\.com/],
  [["people", "cancel", "+15550109999"], 5, /^error: no person found with phone number \+15550109999/],
  [["people", "unsubscribe", "--from", "nowhere.csv"], 2, /^error: nowhere\.csv: no such file/],
  [["responses", "delete", "all"], 5, /^error: no response with id all/],
  [service("project", "remove", "nosuch"), 5, /^error: there is no project "nosuch"/],
  [service("key", "revoke", "nosuch"), 5, /^error: .*nosuch/],
  [service("trend", "remove", "nosuch"), 5, /^error: .*nosuch/],
  [service("link", "remove", "nosuch"), 5, /^error: .*nosuch/],
  [service("share", "remove", "nosuch"), 5, /^error: .*nosuch/],
  [service("webhook", "remove", "nosuch"), 5, /^error: .*nosuch/],
  [service("erase", "no@example.com"), 5, /^error: no person found/],
];

describe("a removal of what is not there", () => {
  it.each(NOWHERE.map(([args, ...rest]) => [args.join(" "), args, ...rest] as const))(
    "%s names the problem before it asks for --yes",
    async (_, args, status, said) => {
      for (const flags of [[], ["--yes"]]) {
        const ended = await served.run([...placed(args), ...flags]);
        expect(ended).toMatchObject({ status, stderr: expect.stringMatching(said) });
      }
    },
  );
});

test("when --yes is given, then each does its work without a question", async () => {
  for (const [name, { look }] of Object.entries(CASES)) {
    const before = (await served.run(placed(look))).stdout;
    const { status } = await served.run([...(await typed(name)), "--yes"]);
    expect([name, status]).toEqual([name, 0]);
    expect([name, (await served.run(placed(look))).stdout]).not.toEqual([name, before]);
  }
});
