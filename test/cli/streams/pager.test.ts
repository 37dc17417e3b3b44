import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startListService, type ListService } from "../../helpers/list-service.ts";
import { size } from "../../helpers/long.ts";
import { runCli, type Ended } from "../../helpers/run-cli.ts";

const PEOPLE = Array.from({ length: 5000 }, (_, index) => ({
  id: String(index + 1),
  email: `person${index + 1}@example.com`,
  name: null,
  created_at: 1_767_225_600 + index,
  phone_number: null,
  last_sent_at: null,
  last_responded_at: null,
  next_survey_scheduled_at: null,
}));

let service: ListService;
beforeAll(async () => {
  service = await startListService({ lists: { people: PEOPLE } });
});
afterAll(() => service.stop());

const LIST = ["people", "list", "--columns", "id,email"];

async function shown(args: readonly string[], env: Readonly<Record<string, string>>, columns = 80): Promise<Ended> {
  const ended = await runCli({ args, env: { ...service.env, NO_COLOR: "1", ...env }, tty: { columns } });
  return { ...ended, stdout: ended.stdout.replaceAll("\r\n", "\n") };
}

describe("a pager", () => {
  it("when one is asked for, then a list goes through it, and notes come after it", async () => {
    const { status, stdout } = await shown([...LIST, "--limit", "2"], {
      SURVEYCTL_PAGER: "sed 's/^/| /'",
      PAGER: "false",
    });
    expect([status, stdout]).toEqual([
      0,
      "| ID  EMAIL\n| 1   person1@example.com\n| 2   person2@example.com\nShowing 2 rows; use --limit N or --all for more\n",
    ]);
  });

  it.each(
    [["people", "--help"], ["help", "dates"], ["--help"], ["help", "people", "list"]]
      .slice(0, size(1, 4))
      .map((args) => [args]),
  )("when %j is long, then it goes through it", async (args) => {
    const plain = await shown(args, {});
    const paged = await shown(args, { PAGER: "sed 's/^/| /'" });
    expect([paged.status, paged.stdout]).toEqual([
      0,
      plain.stdout.replaceAll(/^(?=.)|^(?=\n)/gm, "| ").replaceAll(/^\| $/gm, "| "),
    ]);
  });

  it("when it is left early, then the command ends quietly", async () => {
    const { status, stdout } = await shown([...LIST, "--all"], { PAGER: "head -2" });
    expect([status, stdout]).toEqual([0, "ID   EMAIL\n1    person1@example.com\n"]);
    expect(service.requests.length).toBeLessThan(200);
  });

  it("when it cannot be run, then that is said", async () => {
    const { status, stdout } = await shown([...LIST, "--limit", "1"], { PAGER: "no-such-pager" });
    expect([status, stdout.split("\n").slice(-3)]).toEqual([
      2,
      ['error: the pager "no-such-pager" cannot be run', "hint: SURVEYCTL_PAGER=cat shows everything at once", ""],
    ]);
  });

  it("when it looks into its environment, then the key is not there", async () => {
    const { stdout } = await shown([...LIST, "--limit", "1"], {
      PAGER: "sh -c 'cat >/dev/null; env | grep -c ^SURVEYCTL_API_KEY=; echo $LESS'",
    });
    expect(stdout.split("\n")[0]).toBe("0");
    expect(stdout).toContain("FRX");
  });

  it.each([
    { SURVEYCTL_PAGER: "cat", PAGER: "false" },
    { SURVEYCTL_PAGER: "", PAGER: "" },
  ])("when %j asks for none, then there is none", async (env) => {
    const { status, stdout } = await shown([...LIST, "--limit", "1", "--quiet"], env);
    expect([status, stdout]).toEqual([0, "ID  EMAIL\n1   person1@example.com\n"]);
  });

  it("when stdout is not a terminal, then there is no pager", async () => {
    const ended = await runCli({ args: [...LIST, "--limit", "1"], env: { ...service.env, PAGER: "false" } });
    expect([ended.status, ended.stdout]).toEqual([0, "1\tperson1@example.com\n"]);
  });
});
