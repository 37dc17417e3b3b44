/** The man page must match help and must not contain anything troff interprets. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it, test } from "vitest";
import { readCommands } from "../../helpers/command-tree.ts";
import { runInside } from "../../helpers/in-process.ts";
import { isLong } from "../../helpers/long.ts";

const root = path.join(import.meta.dirname, "../../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  man: string[];
  files: string[];
};
const [manFile = ""] = manifest.man;
const file = path.join(root, manFile);
/** As displayed, without troff markup. */
const source = gunzipSync(readFileSync(file)).toString();
const page = source.replaceAll("\\-", "-").replaceAll("\\(dq", '"').replaceAll("\\&", "").replaceAll("\\e", "\\");

it("when it is installed, then it is in the package", () => {
  expect(manifest.files).toContain(path.dirname(manFile));
});

it("when a command exists, then the page has it with all its flags and examples", async () => {
  const commands = await readCommands();
  const missing = commands.flatMap(({ name, flags, examples }) => {
    const [, own = ""] = page.split(new RegExp(`^\\.SS "surveyctl ${name}(?: [<[].*)?"$`, "m"));
    const [text = ""] = own.split(/^\.S[SH] /m);
    const whole = text.replaceAll(/ \\\n +/g, " ");
    const wanted = [...(own === "" ? ["its section"] : []), ...examples.flatMap((example) => example.split("\n"))];
    const everywhere = flags.filter((flag) => !["--help", "-h"].includes(flag) && !page.includes(flag));
    return [...wanted.filter((word) => !whole.includes(word)), ...everywhere].map((word) => `${name}: ${word}`);
  });
  expect([missing, commands.length > 30]).toEqual([[], true]);
});

it.runIf(isLong)("when it is installed as a package, then its page is where man looks", async () => {
  const prefix = await mkdtemp(path.join(tmpdir(), "surveyctl-man-"));
  const npm = spawnSync("npm", ["install", "--global", "--offline", "--ignore-scripts", "--prefix", prefix, root], {
    encoding: "utf8",
  });
  const isThere = existsSync(path.join(prefix, "share/man/man1/surveyctl.1.gz"));
  await rm(prefix, { recursive: true, force: true });
  expect([npm.status, isThere]).toEqual([0, true]);
});

it("when it is read to its end, then it names its files and no date", () => {
  expect(page.match(/^\.TH .*$/m)?.[0]).toMatch(/^\.TH SURVEYCTL 1 "" "surveyctl \d+\.\d+\.\d+" "User Commands"$/);
  expect(page).toContain(".B ~/.config/surveyctl/config.json\n");
  expect(page).toMatch(/^\.SH "SEE ALSO"\n\.BR curl \(1\),$/m);
  expect(page).not.toMatch(/^\.in /m);
});

it("when a command has an operand, then the page says what it is", () => {
  expect(page).toContain(".TP\n.B shell\nshell to write the script for (one of bash, zsh, fish, powershell)\n");
});

it.each(["environment", "output", "dates", "import", "export"])(
  "when there is a topic %s, then the page has its text",
  async (topic) => {
    const { stdout } = await runInside({ args: ["help", topic], home: tmpdir() });
    expect(page).toContain(stdout.trim());
  },
);

const groff = spawnSync("groff", ["--version"]).status === 0;
test.runIf(groff)("when groff lays it out, then it has nothing to complain of (runs where groff is installed)", () => {
  const { status, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww"], { input: source, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});

test.runIf(groff)("when groff lays it out, then no line is wider than a terminal of 80 columns", () => {
  const { stdout } = spawnSync("groff", ["-man", "-Tutf8", "-P-cbou", "-rLL=78n"], { input: source, encoding: "utf8" });
  const lines = stdout.split("\n");
  expect([lines.length > 500, lines.filter((line) => line.length > 80)]).toEqual([true, []]);
});
