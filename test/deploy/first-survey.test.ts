import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { bareEnvironment, shellProgram } from "../helpers/run-cli.ts";
import { startPlanServer } from "../helpers/smtp-plan-server.ts";
import { ROOT } from "./deploy-files.ts";

const page = readFileSync(path.join(ROOT, "docs/running-the-service.md"), "utf8");
const [, block = ""] = /## Quick start on Debian\n[^`]*```sh\n(.*?)```/s.exec(page) ?? [];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("when the five lines are typed, then a survey arrives in a mail server on this machine", async () => {
  const [install, ...lines] = block.trimEnd().split("\n");
  // An interactive prompt would read the next line as its answer.
  expect([install, lines.length]).toEqual([expect.stringMatching(/^apt-get install -y \.\/surveyctl_/), 4]);
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-first-"));
  const [mail, port] = [await startPlanServer(), await freePort()];
  // Stands in for the installed package.
  await writeFile(path.join(folder, "surveyctl"), `#!/bin/sh\nexec ${shellProgram()} "$@"\n`, { mode: 0o755 });
  const shell = spawn("bash", [], {
    cwd: folder,
    env: bareEnvironment(folder, { PATH: `${folder}:${process.env.PATH ?? ""}` }),
  });
  let said = "";
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const type = (line = ""): void => {
    const here = line
      .replace("serve ", `serve --port ${port} `)
      .replace(":8080", `:${port}`)
      .replace("1025", `${mail.port}`);
    shell.stdin.write(`${here}\n`);
  };
  try {
    type(lines[0]);
    type(lines[1]);
    await expect.poll(() => said, { timeout: 30_000 }).toContain("listening on");
    type(lines[2]);
    await expect.poll(() => mail.accepted.map(({ to }) => to), { timeout: 30_000 }).toEqual(["you@example.com"]);
    type(lines[3]);
    await expect.poll(() => said, { timeout: 30_000 }).toMatch(/^3\temail\tyou@example\.com\t\tsent\t/m);
  } finally {
    shell.stdin.end("kill -TERM %1; wait\n");
    await once(shell, "close");
    await mail.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
