import { beforeAll, describe, expect, it } from "vitest";
import { findCandidates, mayBeFile, type CommandTree } from "../../../src/cli/completion/candidates.ts";
import { describeProgram } from "../../../src/cli/help/help-tree.ts";

let tree: CommandTree;
beforeAll(async () => {
  tree = (await describeProgram()) as CommandTree;
});

function values(line: string): string[] {
  const words = line.split(" ");
  return findCandidates(tree, words.slice(0, -1), words.at(-1) ?? "", () => ["prod", "local"]).map(
    ({ value }) => value,
  );
}

const OUTPUTS = ["table", "record", "json", "ndjson", "csv", "tsv", "markdown"];

describe("what may stand at the cursor", () => {
  it.each<[string, readonly string[]]>([
    ["peo", ["people"]],
    ["he", ["help"]],
    ["people ge", ["get"]],
    ["person ge", ["get"]],
    ["-q people ge", ["get"]],
    ["--profile prod people ge", ["get"]],
    ["people --profile prod ge", ["get"]],
    ["service key re", ["revoke"]],
    ["people list -o ", OUTPUTS],
    ["people list --output ", OUTPUTS],
    ["people list --output=", OUTPUTS.map((format) => `--output=${format}`)],
    ["people list --output=c", ["--output=csv"]],
    ["people list --tim", ["--time", "--timeout"]],
    ["people list --sin", ["--since"]],
    ["people add --ch", ["--channel"]],
    ["people add --channel ", ["email", "sms"]],
    ["people list --hel", ["--help"]],
    ["--prof", ["--profile"]],
    ["people list --profile ", ["prod", "local"]],
    ["people list --profile=p", ["--profile=prod"]],
    ["auth use p", ["prod"]],
    ["people list --columns last_s", ["last_sent_at"]],
    ["people list --columns id,em", ["id,email"]],
    ["people list --columns email,em", []],
    ["api ", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]],
    ["api GET ", []],
    ["completion ", ["bash", "zsh", "fish", "powershell"]],
    ["help exit", ["exit-codes"]],
    ["help peo", ["people"]],
    ["help people li", ["list"]],
    ["help service key ", ["add", "list", "rotate", "revoke"]],
    ["help exit-codes ", []],
    ["auth use ", ["prod"]],
    ["people add --locale pt", ["pt-BR", "pt"]],
    ["service project list --columns id,n", ["id,name"]],
    ["people get ", []],
    ["people add --name ", []],
    ["serve --login --must", ["--must-exist"]],
    ["serve --login --log-format js", ["json"]],
    ["report --seg", ["--segment"]],
    [
      "people nonsense ",
      [
        "list",
        "get",
        "show",
        "add",
        "update",
        "reschedule",
        "delete",
        "cancel",
        "unsubscribe",
        "resubscribe",
        "import",
        "export",
      ],
    ],
    ["people list --nonsense=", []],
  ])("when it is %j", (line, expected) => {
    expect(values(line)).toEqual(expected);
  });

  it("when it is the first word, then every noun is offered and says what it is", () => {
    const found = findCandidates(tree, [], "", () => []);
    expect([found.map(({ value }) => value), found.every(({ description }) => description !== "")]).toEqual([
      [...tree.commands.map(({ name }) => name), "help"],
      true,
    ]);
  });

  it("when a command shows rows, then its columns are known", () => {
    const leaves = (nodes: CommandTree["commands"]): CommandTree["commands"] =>
      nodes.flatMap((node) => (node.commands.length === 0 ? [node] : leaves(node.commands)));
    const shown = leaves(tree.commands).filter(({ name }) => name === "list" || name === "export");
    expect(shown.filter(({ columns }) => columns.length === 0)).toEqual([]);
  });
});

describe("file names", () => {
  it.each<[string, boolean]>([
    ["people import ", true],
    ["people import customers.csv ", false],
    ["people export --out ", true],
    ["people export --out=", true],
    ["api POST /v1/people.json --input ", true],
    ["api POST /v1/people.json -F ", true],
    ["serve --data ", true],
    ["metrics --assert ", false],
    ["metrics --assert=", false],
    ["people add --email ", false],
    ["report --out ", true],
    ["people get ", false],
    ["people list --limit ", false],
    ["help people ", false],
    ["people list --nonsense=", false],
  ])("when it is %j, then they are offered: %j", (line, expected) => {
    const words = line.split(" ");
    expect(mayBeFile(tree, words.slice(0, -1), words.at(-1) ?? "")).toBe(expected);
  });
});
