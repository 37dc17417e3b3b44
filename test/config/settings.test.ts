import { execFileSync } from "node:child_process";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseBaseUrl } from "../../src/config/base-url.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { configFile, localDataFile } from "../../src/config/places.ts";
import { findJsonProblem } from "../../src/config/json-problem.ts";
import { readProfiles, setAside, writeProfiles } from "../../src/config/profiles.ts";
import { resolveConnection, type ConnectionSettings } from "../../src/config/settings.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-config-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

type Variables = Readonly<Record<string, string>>;
const around = (env: Variables = {}, platform = "linux") => ({ env: { HOME: home, ...env }, platform });

describe("an address", () => {
  it.each([
    ["https://a.example", "https://a.example"],
    ["https://a.example/", "https://a.example"],
    ["https://a.example/v1", "https://a.example"],
    ["https://a.example/v1/", "https://a.example"],
    ["HTTPS://A.Example:8443/surveys/v1//", "https://a.example:8443/surveys"],
    [" https://a.example?x=1#y ", "https://a.example"],
    ["http://localhost:8080", "http://localhost:8080"],
    ["localhost:8080", "http://localhost:8080"],
    ["127.0.0.1:8080/v1", "http://127.0.0.1:8080"],
    ["[::1]:8080", "http://[::1]:8080"],
    ["a.example/surveys", "https://a.example/surveys"],
    ["a.example:8443", "https://a.example:8443"],
    ["surveys", "https://surveys"],
    ["http://api.localhost", "http://api.localhost"],
    ["http://127.0.0.1:1", "http://127.0.0.1:1"],
    ["http://127.9.9.9", "http://127.9.9.9"],
    ["http://[::1]:8080", "http://[::1]:8080"],
  ])("when it is %s, then it is used as %s", (text, used) => {
    expect(parseBaseUrl(text, "--base-url", { allowHttp: false })).toBe(used);
  });

  it.each([
    "http://a.example",
    "http://127.0.0.1.a.example",
    "http://192.168.0.1",
    "http://localhost.a.example",
    "http://[::2]",
  ])("when it is %s, then it is refused unless plain HTTP is allowed", (text) => {
    expect(() => parseBaseUrl(text, "--base-url", { allowHttp: false })).toThrow(
      /^--base-url: refusing to send the API key over plain http to /,
    );
    expect(parseBaseUrl(text, "--base-url", { allowHttp: true })).toBe(text);
  });

  it.each([
    "ftp://a.example",
    "https://",
    "",
    "//a.example",
    "file:///etc/passwd",
    "<https://a.example>",
    "http:/a.example",
    "http:a.example",
    "\u200bhttps://a.example",
  ])("when it is %j, then it is no address", (text) => {
    const error = new ConfigError(
      "invalid",
      `--base-url: ${JSON.stringify(text)} is not an address such as https://surveys.example.com`,
    );
    expect(() => parseBaseUrl(text, "--base-url", { allowHttp: true })).toThrow(error);
  });

  it.each([
    ['"https://a.example"', "has quotes around it"],
    ["'https://a.example'\n", "has quotes around it"],
    ["“https://a.example”", "has quotes around it"],
    ["https://a.example\\n", "ends with a line end, written as \\n"],
  ])("when it was copied as %j, then that is told", (text, problem) => {
    expect(() => parseBaseUrl(text, "SURVEYCTL_BASE_URL", { allowHttp: true })).toThrow(
      new ConfigError("invalid", `SURVEYCTL_BASE_URL: the address ${problem}`),
    );
  });

  it.each([
    ["https://me:hush@a.example", /^(?!.*hush).*holds no credentials/],
    ["ftp://me:hush@a.example", /^--base-url: "ftp:\/\/…@a\.example" is not an address/],
    ["me:hu@sh@a.example", /^--base-url: "…@a\.example" is not an address/],
    ["https://me:hush@a.example:99999", /^--base-url: "https:\/\/…@a\.example:99999" is not an address/],
  ])("when it holds a password, as %s, then it is refused and the password is not repeated", (text, message) => {
    expect(() => parseBaseUrl(text, "--base-url", { allowHttp: false })).toThrow(message);
  });
});

describe("where things lie", () => {
  it.each<[string, Variables, string, string]>([
    ["linux", { HOME: "/h" }, "/h/.config/surveyctl/config.json", "/h/.local/share/surveyctl/local.db"],
    [
      "linux",
      { HOME: "/h", XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "/d" },
      "/c/surveyctl/config.json",
      "/d/surveyctl/local.db",
    ],
    [
      "linux",
      { HOME: "/h", XDG_CONFIG_HOME: "relative" },
      "/h/.config/surveyctl/config.json",
      "/h/.local/share/surveyctl/local.db",
    ],
    [
      "darwin",
      { HOME: "/h" },
      "/h/Library/Application Support/surveyctl/config.json",
      "/h/Library/Application Support/surveyctl/local.db",
    ],
    [
      "win32",
      { HOME: "/h", APPDATA: "/roaming", LOCALAPPDATA: "/near" },
      "/roaming/surveyctl/config.json",
      "/near/surveyctl/local.db",
    ],
  ])("when the platform is %s and the environment %j", (platform, env, settings, data) => {
    expect([configFile({ env, platform }), localDataFile({ env, platform })]).toEqual([settings, data]);
  });
});

const PROD = { base_url: "https://prod.example", api_key: "key-of-prod" };

async function save(content: unknown, mode = 0o600): Promise<string> {
  const file = configFile(around());
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content), { mode });
  await chmod(file, mode);
  return file;
}

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

describe("the file of profiles", () => {
  it("when there is none, then there are no profiles", async () => {
    expect(await readProfiles(configFile(around()))).toEqual({
      defaultName: null,
      byName: new Map(),
      warning: null,
      untrusted: null,
    });
  });

  it("when it is written, then it is read back, for its owner alone, and nothing lies beside it", async () => {
    const file = configFile(around());
    const profiles = { defaultName: "prod", byName: new Map([["prod", PROD]]) };
    await writeProfiles(file, profiles, "token");
    expect(await readProfiles(file)).toEqual({ ...profiles, warning: null, untrusted: null });
    expect([await modeOf(file), await modeOf(path.dirname(file)), await readdir(path.dirname(file))]).toEqual([
      0o600,
      0o700,
      ["config.json"],
    ]);
  });

  it("when others could read it, then that is warned about, and ends with the next write", async () => {
    const file = await save({ default_profile: null, profiles: {} }, 0o644);
    await chmod(path.dirname(file), 0o755);
    const { warning } = await readProfiles(file);
    await writeProfiles(file, { defaultName: null, byName: new Map() }, "token");
    expect([warning, await modeOf(file), await modeOf(path.dirname(file))]).toEqual([
      `${file} can be read by others; run: chmod 600 ${file}`,
      0o600,
      0o700,
    ]);
  });

  it.each<[string, unknown, string]>([
    ["another shape", { profiles: "hush" }, " at profiles"],
    ["a list", [], " at profiles"],
    [
      "a profile without an address",
      { default_profile: null, profiles: { prod: { api_key: "hush" } } },
      " at profiles.prod",
    ],
  ])("when it is %s, then the place is told and the content is not", async (_, content, place) => {
    const file = await save(content);
    await expect(readProfiles(file)).rejects.toMatchObject({
      problem: "broken",
      message: `${file} is not a configuration file of surveyctl${place}`,
    });
  });
});

describe("a file of profiles that is broken", () => {
  const TEXT =
    '{\n  "default_profile": "prod",\n  "profiles": { "prod": { "base_url": "https://a", "api_key": "hush" } }\n}\n';

  it.each<[string, string, number, number]>([
    ["a key without quotes", "{ api_key: hush", 1, 3],
    ["a comma too many", TEXT.replace('"prod",', '"prod",,'), 2, 29],
    ["a comma too few", TEXT.replace('"prod",', '"prod"'), 3, 3],
    ["a comma at the end", TEXT.replace(" } }", ", } }"), 3, 71],
    ["a quote too few", TEXT.replace('hush"', "hush"), 3, 63],
    ["a brace too few", TEXT.slice(0, -2), 3, 73],
    ["a brace too many", `${TEXT}}`, 5, 1],
    ["a bracket for a brace", TEXT.replace(" } }", " ] }"), 3, 70],
    ["nothing", "", 1, 1],
    ["an apostrophe for a quote", "{'a': 1}", 1, 2],
    ["a merge's marks", `<<<<<<< HEAD\n${TEXT}`, 1, 1],
    ["a word", '{"a": yes}', 1, 7],
    ["a raw line end in a text", '{"a": "b\nc"}', 1, 7],
    ["two values", "{} {}", 1, 4],
    ["a closing bracket alone", "]", 1, 1],
    ["a number with a zero before it", '{"a": 01}', 1, 8],
  ])("when it has %s, then line and column are told, and nothing of it", async (_, text, line, column) => {
    const file = await save(text);
    const error = await readProfiles(file).catch((problem: unknown) => problem);
    expect(error).toMatchObject({
      problem: "broken",
      message: `${file}:${line}:${column}: invalid JSON`,
      advice: { code: "repair_file" },
    });
  });

  it("when a value's place is found, then JSON that is whole has none", () => {
    for (const text of ["{}", "[]", '{"a":[1,{"b":null}],"c":"\\u00e9\\n"}', " true ", "[[],[],{}]"])
      expect(findJsonProblem(text)).toEqual({ line: 1, column: text.trimEnd().length + 1 });
  });

  it("when it is set aside, then a new one can be written and the old one is kept", async () => {
    const file = await save("{ api_key: hush");
    expect(await setAside(file)).toBe(`${file}.broken`);
    expect((await readProfiles(file)).byName.size).toBe(0);
    expect(await readFile(`${file}.broken`, "utf8")).toBe("{ api_key: hush");
  });

  it("when it is a FIFO, then it is refused instead of waited for", async () => {
    const file = configFile(around());
    await mkdir(path.dirname(file), { recursive: true });
    execFileSync("mkfifo", [file]);
    await expect(readProfiles(file)).rejects.toMatchObject({
      message: `${file} cannot be read: it is a pipe that nothing writes to`,
    });
  });
});

describe("a key command in a file that others could have written", () => {
  const COMMAND = { base_url: "https://prod.example", key_command: "printf fresh-key" };
  const saveCommand = (): Promise<string> => save({ default_profile: "prod", profiles: { prod: COMMAND } });

  it.each<[string, (file: string) => Promise<void>, (file: string) => string]>([
    ["the file can be written by its group", (file) => chmod(file, 0o620), (file) => file],
    ["the folder can be written by all", (file) => chmod(path.dirname(file), 0o777), (file) => path.dirname(file)],
  ])("when %s, then it is not run", async (_, loosen, place) => {
    const file = await saveCommand();
    await loosen(file);
    await expect(resolve({})).rejects.toMatchObject({
      problem: "invalid",
      message: `refusing to run the key command of profile prod: ${place(file)} can be written by others`,
    });
    expect(await resolve({ env: { SURVEYCTL_API_KEY: "k-of-env" } })).toMatchObject({ apiKey: { value: "k-of-env" } });
  });

  it.runIf(process.getuid?.() === 0)("when somebody else owns the file, then it is not run", async () => {
    const file = await saveCommand();
    await chown(file, 4711, 4711);
    await expect(resolve({})).rejects.toMatchObject({
      message: `refusing to run the key command of profile prod: ${file} belongs to another user`,
    });
  });

  it("when a link leads to a folder that others can write, then it is not run", async () => {
    const file = await saveCommand();
    const shared = path.join(home, "shared");
    await mkdir(shared, { mode: 0o777 });
    await chmod(shared, 0o777);
    await rename(file, path.join(shared, "config.json"));
    await symlink(path.join(shared, "config.json"), file);
    await expect(resolve({})).rejects.toMatchObject({
      message: `refusing to run the key command of profile prod: ${shared} can be written by others`,
    });
  });
});

describe("the key of a profile", () => {
  it.each([
    [{ baseUrl: "https://flag.example" }, "https://flag.example (--base-url)"],
    [{ baseUrl: "http://127.0.0.1:8078" }, "http://127.0.0.1:8078 (--base-url)"],
    [{ baseUrl: "https://prod.example:8443" }, "https://prod.example:8443 (--base-url)"],
    [{ env: { SURVEYCTL_BASE_URL: "https://env.example" } }, "https://env.example (SURVEYCTL_BASE_URL)"],
    [{ profile: "cmd", baseUrl: "https://flag.example" }, "https://flag.example (--base-url)"],
  ])("when the base URL is of another origin, as %j, then it is not sent there", async (given, place) => {
    const ran = path.join(home, "ran");
    const cmd = { base_url: "https://prod.example", key_command: `touch ${ran}; echo k` };
    await save({ default_profile: "prod", profiles: { prod: PROD, cmd } });
    const name = "profile" in given ? "cmd" : "prod";
    await expect(resolve(given)).rejects.toMatchObject({
      problem: "missing",
      message: `refusing to send the API key of profile ${name} to ${place}; it belongs to https://prod.example`,
      advice: { code: "set_own_key" },
    });
    await expect(readFile(ran)).rejects.toThrow("ENOENT");
  });

  it("when the base URL is of the same origin, then it is sent there", async () => {
    await save({ default_profile: "prod", profiles: { prod: PROD } });
    expect(await resolve({ baseUrl: "https://PROD.example/other" })).toMatchObject({
      baseUrl: { value: "https://prod.example/other" },
      apiKey: { value: "key-of-prod" },
    });
  });
});

describe("a file of profiles that was edited", () => {
  it("when it names no default, and begins with a byte order mark, then it is read", async () => {
    const file = await save(`\uFEFF${JSON.stringify({ profiles: { prod: PROD } })}`);
    expect(await readProfiles(file)).toEqual({
      defaultName: null,
      byName: new Map([["prod", PROD]]),
      warning: null,
      untrusted: null,
    });
  });

  it("when its default is no profile, then that is told", async () => {
    await save({ default_profile: "prdo", profiles: { prod: PROD } });
    await expect(resolve({})).rejects.toMatchObject({
      problem: "missing",
      message: 'the default profile: there is no profile "prdo"',
      advice: { code: "unknown_profile", given: "prdo", known: ["prod", "local"], mayCreate: true },
    });
    const env = { SURVEYCTL_BASE_URL: "https://env.example", SURVEYCTL_API_KEY: "key-of-env" };
    expect(await resolve({ env })).toMatchObject({ profile: null, baseUrl: { value: "https://env.example" } });
  });

  it.each(["", " \n"])("when a profile's key is %j, then there is none", async (api_key) => {
    await save({ default_profile: "prod", profiles: { prod: { ...PROD, api_key } } });
    await expect(resolve({})).rejects.toMatchObject({
      problem: "missing",
      message: "there is no API key for https://prod.example",
    });
  });

  it("when the home is no folder, as /dev/null is, then there are no profiles and none can be saved", async () => {
    const file = configFile(around({ HOME: "/dev/null" }));
    expect(await readProfiles(file)).toMatchObject({ defaultName: null, byName: new Map() });
    await expect(writeProfiles(file, { defaultName: null, byName: new Map() }, "t")).rejects.toMatchObject({
      code: "ENOTDIR",
    });
  });

  it("when it is a directory, then that is told", async () => {
    const file = configFile(around());
    await mkdir(file, { recursive: true });
    await expect(readProfiles(file)).rejects.toMatchObject({
      problem: "invalid",
      message: `${file} cannot be read: it is a directory, not a file`,
    });
  });
});

interface Given {
  readonly env?: Variables;
  readonly profile?: string;
  readonly baseUrl?: string;
}

function resolve({ env = {}, profile, baseUrl }: Given): Promise<ConnectionSettings> {
  return resolveConnection({
    ...around(env),
    flags: {
      profile: profile === undefined ? null : { value: profile, source: "--profile" },
      baseUrl: baseUrl === undefined ? null : { value: baseUrl, source: "--base-url" },
    },
    insecureHttp: false,
  });
}

describe("a key", () => {
  const url = { SURVEYCTL_BASE_URL: "https://env.example" };

  it.each([
    ["'key-of-env'", "has quotes around it"],
    ["“key-of-env”", "has quotes around it"],
    ["Bearer key-of-env", 'begins with "Bearer"'],
    ["Basic a2V5", 'begins with "Basic"'],
    ["key-of-env\\n", "ends with a line end, written as \\n"],
    ["key-of-env:", "is not one line of visible ASCII characters without a colon"],
    ["key of env", "is not one line of visible ASCII characters without a colon"],
    ["key\nof-env", "is not one line of visible ASCII characters without a colon"],
  ])("that was copied as %j is told from a wrong one", async (key, problem) => {
    await expect(resolve({ env: { ...url, SURVEYCTL_API_KEY: key } })).rejects.toThrow(
      new ConfigError("invalid", `SURVEYCTL_API_KEY: the key ${problem}`),
    );
  });

  it("with a real line end is used without it", async () => {
    expect(await resolve({ env: { ...url, SURVEYCTL_API_KEY: "key-of-env\r\n" } })).toMatchObject({
      apiKey: { value: "key-of-env" },
    });
  });

  it("of a profile is told with the profile", async () => {
    await save({ profiles: { prod: { ...PROD, api_key: '"key-of-prod"' } } });
    await expect(resolve({ profile: "prod" })).rejects.toThrow("profile prod: the key has quotes around it");
  });
});

describe("the connection", () => {
  const byEnv = { SURVEYCTL_BASE_URL: "https://env.example/v1", SURVEYCTL_API_KEY: "key-of-env" };
  const profileKey = { value: "key-of-prod", source: "profile prod" };
  const envKey = { value: "key-of-env", source: "SURVEYCTL_API_KEY" };
  const envUrl = { value: "https://env.example", source: "SURVEYCTL_BASE_URL" };
  const flagUrl = { value: "https://flag.example", source: "--base-url" };
  const prodUrl = { value: "https://prod.example", source: "profile prod" };

  it.each<[string, Given, object]>([
    [
      "the default profile",
      {},
      { profile: { value: "prod", source: "the default profile" }, baseUrl: prodUrl, apiKey: profileKey },
    ],
    [
      "a flag names it",
      { profile: "prod" },
      { profile: { value: "prod", source: "--profile" }, baseUrl: prodUrl, apiKey: profileKey },
    ],
    [
      "a variable names it",
      { env: { SURVEYCTL_PROFILE: "prod" } },
      { profile: { value: "prod", source: "SURVEYCTL_PROFILE" }, baseUrl: prodUrl, apiKey: profileKey },
    ],
    [
      "the environment goes before it",
      { env: byEnv },
      { profile: { value: "prod", source: "the default profile" }, baseUrl: envUrl, apiKey: envKey },
    ],
    [
      "flags go before the environment",
      { env: byEnv, baseUrl: "https://flag.example" },
      { profile: { value: "prod", source: "the default profile" }, baseUrl: flagUrl, apiKey: envKey },
    ],
    [
      "empty variables are unset",
      { env: { SURVEYCTL_BASE_URL: "", SURVEYCTL_API_KEY: "", SURVEYCTL_PROFILE: "" } },
      { profile: { value: "prod", source: "the default profile" }, baseUrl: prodUrl, apiKey: profileKey },
    ],
  ])("when %s", async (_, given, expected) => {
    await save({ default_profile: "prod", profiles: { prod: PROD } });
    expect(await resolve(given)).toEqual({ kind: "remote", warning: null, ...expected });
  });

  it("when the key came with a line's end, as from a file, then it is used without", async () => {
    const { apiKey } = (await resolve({ env: { ...byEnv, SURVEYCTL_API_KEY: "key-of-env\r\n" } })) as {
      apiKey?: unknown;
    };
    expect(apiKey).toEqual(envKey);
  });

  it("when there is no file, then the environment is enough", async () => {
    expect(await resolve({ env: byEnv })).toEqual({
      kind: "remote",
      profile: null,
      baseUrl: envUrl,
      apiKey: envKey,
      warning: null,
    });
  });

  it("when the profile has a command, then its output is the key", async () => {
    await save({
      default_profile: "prod",
      profiles: { prod: { base_url: "https://prod.example", key_command: "printf 'fresh-key\\n'" } },
    });
    expect(await resolve({})).toMatchObject({ apiKey: { value: "fresh-key", source: "key command of profile prod" } });
  });

  it.each([
    ["false", "the key command failed: it ended with 1"],
    ["true", "the key command failed: it printed nothing"],
    ["printf 'a\\nb\\n'", "the key command failed: it printed more than one line"],
    ["echo locked >&2; exit 3", "the key command failed: locked"],
    ["echo hush-1; echo hush-1 is old >&2; exit 3", "the key command failed: … is old"],
  ])("when the command is %s, then that is told", async (command, message) => {
    await save({
      default_profile: "prod",
      profiles: { prod: { base_url: "https://prod.example", key_command: command } },
    });
    await expect(resolve({})).rejects.toMatchObject({ problem: "missing", message: message });
  });

  it("when the environment has the key, then the command is not run", async () => {
    const ran = path.join(home, "ran");
    await save({
      default_profile: "prod",
      profiles: { prod: { base_url: "https://prod.example", key_command: `touch ${ran}; echo k` } },
    });
    await resolve({ env: { SURVEYCTL_API_KEY: "key-of-env" } });
    await expect(readFile(ran)).rejects.toThrow("ENOENT");
  });

  it("when the profile is local, then nothing else is looked at", async () => {
    await save("no JSON at all");
    expect(await resolve({ profile: "local", env: byEnv })).toEqual({ kind: "local" });
  });

  it.each<[string, Given, string, string]>([
    ["nothing at all", {}, "missing", "no connection is configured"],
    ["an address alone", { baseUrl: "https://a.example" }, "missing", "there is no API key for https://a.example"],
    ["a key alone", { env: { SURVEYCTL_API_KEY: "k" } }, "missing", "a key is given, but no base URL"],
    ["an unknown profile", { profile: "nope" }, "missing", '--profile: there is no profile "nope"'],
    [
      "an unknown profile by variable",
      { env: { SURVEYCTL_PROFILE: "nope" } },
      "missing",
      'SURVEYCTL_PROFILE: there is no profile "nope"',
    ],
    [
      "local and an address",
      { profile: "local", baseUrl: "https://a.example" },
      "invalid",
      "--base-url and the profile local cannot be used together",
    ],
  ])("when there is %s, then it is refused", async (_, given, problem, message) => {
    await expect(resolve(given)).rejects.toMatchObject({ name: "ConfigError", problem, message });
  });

  it.each<[string, Given, string]>([
    ["nothing", {}, "connect"],
    ["an address alone", { baseUrl: "https://a.example" }, "set_key"],
    ["a key alone", { env: { SURVEYCTL_API_KEY: "k" } }, "set_base_url"],
  ])("when %s is configured, then the error carries the next step", async (_, given, code) => {
    await expect(resolve(given)).rejects.toMatchObject({ advice: { code } });
  });
});
