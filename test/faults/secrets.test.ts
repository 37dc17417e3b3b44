import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { answer, startMisbehavingServer, type Behaviour } from "../helpers/misbehaving-server.ts";
import { runInProcess } from "../helpers/in-process.ts";
import { everyCommand } from "./commands.ts";
import { sampled } from "./table.ts";

const KEY = "sk+live/0123456789=abcdef";
const FORMS = [KEY, encodeURIComponent(KEY), base64(`${KEY}:`), base64(KEY), base64(KEY).replace(/=+$/, "")];
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-secrets-"));
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function unicodeEscape(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}

function echo(status: number, form: (words: string) => string): Behaviour {
  return (socket, request) => {
    const words = `wrong credentials ${request.headers.authorization ?? ""} (${FORMS.join(", ")})`;
    const headers = {
      "x-request-id": base64(`${KEY}:`),
      server: KEY,
      location: `/login?key=${encodeURIComponent(KEY)}`,
    };
    return answer(status, form(words), headers)(socket, request);
  };
}

const ECHOES: Readonly<Record<string, Behaviour>> = {
  "an error in JSON": echo(401, (words) => JSON.stringify({ error: { message: words, [KEY]: [words] } })),
  "an error in JSON that escapes": echo(
    403,
    (words) => `{"message":"${words.replaceAll("/", "\\/").replaceAll(/[=+]/g, unicodeEscape)}"}`,
  ),
  "an error in HTML": echo(422, (words) => `<html><title>${words}</title>`),
  "a failure in plain words": echo(500, (words) => words),
  "a redirect": echo(302, () => ""),
  "a 2xx in JSON": echo(200, (words) => JSON.stringify({ id: "1", name: words })),
  "a list in JSON": echo(200, (words) => JSON.stringify([{ id: "1", name: words }])),
  "a 2xx that is no JSON": echo(200, (words) => `key ${KEY}, ${words}`),
};

const SOURCES = ["environment", "profile", "key command"] as const;
const VERBOSITIES = [["--json"], ["--verbose"], ["-vv", "--show-personal-data", "-o", "ndjson"]];

describe.concurrent("no command shows the key that a service says back", () => {
  const cases = Object.keys(ECHOES).flatMap((name) => SOURCES.map((source) => ({ name, source })));
  // Not a multiple of the number of verbosities, so that each case has all of them.
  const share = 8;
  it.for(cases)("when $name comes and the key is from the $source", async ({ name, source }, { expect }) => {
    const server = await startMisbehavingServer({ script: () => ECHOES[name] ?? (() => undefined) });
    try {
      const home = path.join(folder, `${source}-${name}`.replaceAll(" ", "-"));
      const env = await homeWith(home, source, server.baseUrl);
      const shown: string[] = [];
      const turn = cases.findIndex((one) => one.name === name && one.source === source);
      for (const [index, command] of sampled([...(await everyCommand(home)).entries()], { share, turn })) {
        const flags = VERBOSITIES[index % VERBOSITIES.length] ?? [];
        const stdin = command.stdin === undefined ? {} : { stdin: KEY };
        const args = [...command.args, ...flags, "--retries", "0", "--base-url", server.baseUrl];
        const { stdout, stderr } = await runInProcess({ args, env, ...stdin });
        if (holdsKey(stdout) || holdsKey(stderr)) shown.push(`${command.name} ${flags.join(" ")}: ${stdout}${stderr}`);
        else shown.push("");
      }
      expect(shown.filter((text) => text !== "")).toEqual([]);
      expect(await filesWithKey(home)).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

function holdsKey(text: string): boolean {
  return FORMS.some((form) => text.includes(form));
}

async function homeWith(
  home: string,
  source: (typeof SOURCES)[number],
  baseUrl: string,
): Promise<Record<string, string>> {
  await mkdir(path.join(home, "config/surveyctl"), { recursive: true, mode: 0o700 });
  const env = { HOME: home, XDG_CONFIG_HOME: path.join(home, "config") };
  if (source === "environment") return { ...env, SURVEYCTL_API_KEY: KEY };
  const profile = source === "profile" ? { api_key: KEY } : { key_command: `printf %s '${KEY}'` };
  const config = { default_profile: "prod", profiles: { prod: { base_url: baseUrl, ...profile } } };
  await writeFile(path.join(home, "config/surveyctl/config.json"), JSON.stringify(config), { mode: 0o600 });
  return env;
}

async function filesWithKey(home: string): Promise<string[]> {
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter(
    (file) => file.isFile() && file.name !== "config.json",
  );
  const texts = await Promise.all(
    files.map(async ({ parentPath, name }) => [name, await readFile(path.join(parentPath, name), "utf8")]),
  );
  return texts.filter(([, text = ""]) => holdsKey(text)).map(([name = ""]) => name);
}
