import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { size } from "../../helpers/long.ts";
import { bareEnvironment, follow, PROGRAM } from "../../helpers/run-cli.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-completion-"));
  const program = path.join(home, "surveyctl");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  await chmod(program, 0o755);
  const { stdout } = await runInside({ args: ["completion", "bash"], home });
  await writeFile(path.join(home, "script.bash"), stdout);
  await mkdir(path.join(home, ".config/surveyctl"), { recursive: true });
  const profiles = { prod: { base_url: "https://a.example", api_key: "a-key-nobody-sees" } };
  await writeFile(
    path.join(home, ".config/surveyctl/config.json"),
    JSON.stringify({ default_profile: null, profiles }),
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

function isThere(shell: string): boolean {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0;
}

async function inShell(shell: string, script: string): Promise<string[]> {
  const env = bareEnvironment(home, { PATH: `${home}:${process.env.PATH ?? ""}` });
  const running = follow(spawn(shell, ["-c", script], { cwd: home, env }));
  running.child.stdin.end();
  const { status, stdout, stderr } = await running.ended;
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((line) => line !== "");
}

function bash(line: string): Promise<string[]> {
  const call = `source script.bash; COMP_LINE='${line}' COMP_POINT=${line.length}; _surveyctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return inShell("bash", call);
}

/** Each line starts a shell and the program, so the short run takes only a few. */
const BASH_LINES: readonly (readonly [line: string, expected: readonly string[]])[] = [
  ["surveyctl people ge", ["get"]],
  ["surveyctl people list --output=js", ["json"]],
  ["surveyctl responses list --order asc:", ["updated_at"]],
  ["surveyctl people import ", []],
  ["surveyctl peo", ["people"]],
  ["surveyctl people list -o ", ["table", "record", "json", "ndjson", "csv", "tsv", "markdown"]],
  ["surveyctl people list --columns id,em", ["id,email"]],
  ["surveyctl --profile ", ["prod", "local"]],
];
const BASH_FILES: readonly (readonly [line: string, expected: readonly string[]])[] = [
  ["surveyctl serve --data ", ["compopt -o default"]],
  ["surveyctl metrics --assert ", []],
  ["surveyctl people import ", ["compopt -o default"]],
  ["surveyctl people add --email ", []],
];

describe("bash", () => {
  it.each(BASH_LINES.slice(0, size(4, BASH_LINES.length)))("when the line is %j", async (line, expected) => {
    expect(await bash(line)).toEqual(expected);
  });

  it.each(BASH_FILES.slice(0, size(2, BASH_FILES.length)))(
    "when the line is %j, then file names are asked of the shell where they help",
    async (line, expected) => {
      const call = `source script.bash; compopt() { echo "compopt $*"; }; COMP_LINE='${line}' COMP_POINT=${line.length}; _surveyctl`;
      expect(await inShell("bash", call)).toEqual(expected);
    },
  );

  it("when the script is loaded, then the program has it", async () => {
    expect(await inShell("bash", "source <(surveyctl completion bash); complete -p surveyctl")).toEqual([
      "complete -F _surveyctl surveyctl",
    ]);
  });
});

for (const shell of ["zsh", "fish"].filter((name) => !isThere(name))) {
  process.stderr.write(`${shell} is not installed: its completion is not tried here\n`);
}

describe("fish", () => {
  it.runIf(isThere("fish"))("when a line is completed, then values and descriptions are offered", async () => {
    const found = await inShell("fish", "surveyctl completion fish | source; complete -C 'surveyctl people ge'");
    expect(found).toEqual(["get\tshow one person"]);
  });
});

/** Uses a pseudo-terminal: types a line and Tab, then prints the completed line with `echo`. */
function typedIntoZsh(typed: string): string {
  return `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell 'PS1=; autoload -U compinit; compinit -u -D; source <(surveyctl completion zsh); echo ready''.'
    zpty -r shell seen '*ready.*'
    zpty -n -w shell $'${typed}\\t\\C-aecho got \\n'
    zpty -r shell seen $'*\\ngot surveyctl*\\n'
    print -r -- \${\${\${seen##*got }%%$'\\r'*}% }`;
}

const ZSH_LINES: readonly (readonly [typed: string, completed: string])[] = [
  ["surveyctl people list --output=js", "surveyctl people list --output=json"],
  ["surveyctl people ge", "surveyctl people get"],
  ["surveyctl --profile pr", "surveyctl --profile prod"],
];

describe("zsh", () => {
  it.runIf(isThere("zsh"))("when the script is read, then it is whole", async () => {
    expect(await inShell("zsh", "surveyctl completion zsh > script.zsh && zsh -n script.zsh")).toEqual([]);
  });

  it.runIf(isThere("zsh")).each(ZSH_LINES.slice(0, size(1, ZSH_LINES.length)))(
    "when %s and the tab key are typed, then the line is %s",
    async (typed, completed) => {
      expect(await inShell("zsh", typedIntoZsh(typed))).toEqual([completed]);
    },
  );
});

describe("scripts", () => {
  it.each(["bash", "zsh", "fish", "powershell"])("when it is for %s, then it asks the program", async (shell) => {
    const { status, stdout, stderr } = await runInside({ args: ["completion", shell], home });
    expect([status, stdout.includes("surveyctl __complete") || stdout.includes("__complete"), stderr]).toEqual([
      0,
      true,
      "",
    ]);
  });

  it("when the shell is unknown, then the nearest is suggested", async () => {
    const { status, stderr } = await runInside({ args: ["completion", "bsh"], home });
    expect([status, stderr]).toEqual([
      2,
      'error: shell: "bsh" is not one of bash, zsh, fish, powershell\nhint: did you mean bash?\n',
    ]);
  });

  it("when profiles are asked for, then their keys stay where they are", async () => {
    const { stdout } = await runInside({ args: ["__complete", "--profile", "="], home });
    expect(stdout).toBe("prod\t\nlocal\t\n");
  });
});
