import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { stall, startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import { commandLines, until } from "../helpers/process-list.ts";
import { startProgram } from "../helpers/run-cli.ts";

const KEY = "key+of/the-process=list";
const FORMS = [
  KEY,
  encodeURIComponent(KEY),
  ...[KEY, `${KEY}:`].map((text) => Buffer.from(text).toString("base64").replace(/=+$/, "")),
];
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-process-list-"));
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

interface Source {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly profile?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

const LIST = ["people", "list"];
/** Every way to pass a key. `key-file` is in the working directory. */
const SOURCES: Readonly<Record<string, Source>> = {
  "the environment": { args: LIST, env: { SURVEYCTL_API_KEY: KEY } },
  "a profile": { args: LIST, profile: { api_key: KEY } },
  "a key command": { args: LIST, profile: { key_command: "cat key-file" } },
  "a key command that is slow": {
    args: LIST,
    profile: { key_command: 'read -r key < key-file; sleep 1; printf %s "$key"' },
  },
  "standard input": { args: ["auth", "login", "--profile", "new"], stdin: KEY },
  "the key command of a login": { args: ["auth", "login", "--profile", "new", "--key-command", "cat key-file"] },
};

describe.concurrent("while a request hangs, the process list shows no key", () => {
  it.for(Object.entries(SOURCES))("when it comes from %s", async ([name, source], { expect }) => {
    const server = await startMisbehavingServer({ script: [stall] });
    const home = path.join(folder, name.replaceAll(" ", "-"));
    const env = { ...(await homeWith(home, server.baseUrl, source)), ...source.env };
    const running = startProgram({ args: [...source.args, "--base-url", server.baseUrl], home, env });
    running.child.stdin.end(source.stdin ?? "");
    const seen: string[] = [];
    await until(async () => {
      seen.push(...(await commandLines()));
      return server.requests.length > 0 || running.child.exitCode !== null;
    });
    seen.push(...(await commandLines()));
    running.child.kill("SIGTERM");
    const { status } = await running.ended;
    await server.stop();
    const ours = seen.filter((line) => line.includes(server.baseUrl));
    expect([status, ours.length > 1, seen.filter((line) => FORMS.some((form) => line.includes(form)))]).toEqual([
      143,
      true,
      [],
    ]);
    expect(server.requests[0]?.headers["authorization"]).toBe(`Basic ${Buffer.from(`${KEY}:`).toString("base64")}`);
  });
});

async function homeWith(home: string, baseUrl: string, { profile }: Source): Promise<Record<string, string>> {
  await mkdir(path.join(home, "surveyctl"), { recursive: true, mode: 0o700 });
  await writeFile(path.join(home, "key-file"), `${KEY}\n`);
  const profiles = profile === undefined ? {} : { prod: { base_url: baseUrl, ...profile } };
  const config = { default_profile: profile === undefined ? null : "prod", profiles };
  await writeFile(path.join(home, "surveyctl/config.json"), JSON.stringify(config), { mode: 0o600 });
  return { XDG_CONFIG_HOME: home };
}
