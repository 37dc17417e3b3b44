import { writeFile } from "node:fs/promises";
import { KEY_LENGTH_MIN } from "../../../contract/limits.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { systemErrorText } from "../../../runtime/files/system-words.ts";
import type { Service } from "../../../service/service.ts";
import { asCliError } from "../../kit/data/data-file-errors.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeWarning } from "../../kit/notes.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { createTimeFormatter } from "../../render/time.ts";
import { loginCommand, plainHttpFlag } from "./address.ts";
import type { ServeLog } from "./serve-log.ts";

export function givenKey({ env }: Deps): string | null {
  const given = env["SURVEYCTL_API_KEY"] ?? "";
  return given === "" ? null : given;
}

/** Creates and returns the first key of a new service. Null if it has a key, or if SURVEYCTL_API_KEY is set. */
export async function firstKey(deps: Deps, { store }: Pick<Service, "store">): Promise<string | null> {
  const { ensureFirstKey } = await import("../../../service/first-project.ts");
  const { InvalidError } = await import("../../../service/domain/errors.ts");
  const given = givenKey(deps);
  const key = await asCliError(() =>
    ensureFirstKey(store, deps.random, given).catch((error: unknown) => {
      if (!(error instanceof InvalidError)) throw error;
      throw new UsageError(`SURVEYCTL_API_KEY: ${error.message.replace(/^key /, "a key ")}`, { cause: error });
    }),
  );
  return key === given ? null : key;
}

export interface KeyFile {
  readonly name: string;
  readonly problem: string | null;
}

/** Writes `survey.db.key` next to the data. Keeps an existing file, which may belong to data that was moved. */
export async function writeKeyFile({ clock }: Deps, dataPath: string, key: string): Promise<KeyFile> {
  const write = async (name: string): Promise<KeyFile> => {
    await writeFile(name, `${key}\n`, { flag: "wx", mode: 0o600 });
    return { name, problem: null };
  };
  const [name, other] = [`${dataPath}.key`, `${dataPath}.${unixSeconds(clock)}.key`];
  return write(name)
    .catch((error: NodeJS.ErrnoException) => (error.code === "EEXIST" ? write(other) : Promise.reject(error)))
    .catch((error) => ({ name, problem: systemErrorText(error) }));
}

export interface NewService {
  readonly data: string;
  readonly url: string;
  readonly key: string;
  readonly keyFile: KeyFile | null;
}

export interface SavedLogin {
  readonly name: string;
  readonly isDefault: boolean;
  readonly file: string;
}

export async function announce(
  deps: Deps,
  log: ServeLog,
  service: NewService,
  saved: SavedLogin | null,
): Promise<void> {
  const { data, url, key, keyFile } = service;
  const flags = plainHttpFlag(url);
  const login = loginCommand(url);
  const place = saved === null ? null : `profile "${saved.name}" in ${saved.file}`;
  if (place !== null && log.isJson) log.info("profile_saved", { message: `saved the key as ${place}` });
  if (keyFile !== null) return logKeyFile(log, keyFile, login);
  const profile = saved === null || saved.isDefault ? "" : ` --profile ${saved.name}`;
  await writeKey(deps, { data, key }, [
    ...(place === null ? [] : [`Saved as ${place}.`]),
    "A person is surveyed at most once in 30 days; surveyctl service throttle changes that.",
    "",
    "Next, in another terminal:",
    "",
    ...(saved === null ? [`  printf %s '${key}' | ${login}`] : []),
    `  surveyctl people add --email you@example.com${profile}${flags}`,
  ]);
}

/** Prints the key even with `--quiet`, because it is shown only once. */
export async function writeKey(
  { streams }: Deps,
  { data, key }: Pick<NewService, "data" | "key">,
  next: readonly string[],
): Promise<void> {
  const lines = [`Created ${data} (project "default"). API key, shown once:`, "", `  ${key}`, "", ...next, ""];
  await streams.err.write(lines.map((line) => `${line}\n`).join(""));
}

function logKeyFile(log: ServeLog, { name: file, problem }: KeyFile, login: string): void {
  if (problem === null) {
    const message = `the API key of the new service is in ${file}; move it to where it is used`;
    return log.say("api_key", { file, message, hint: `${login} < ${file}` });
  }
  const message = `cannot write the API key to ${file}: ${problem}`;
  log.error("api_key", { file, message, hint: "surveyctl service key add makes another" });
}

/** Short keys are only a warning, because older versions allowed them. */
export async function warnOfKey(deps: Deps, log: ServeLog, { store, clock }: Service): Promise<void> {
  const key = givenKey(deps);
  if (key === null) return;
  const { examineKey } = await import("../../../service/domain/projects/projects.ts");
  const { kind, at } = await asCliError(() => store.read((tx) => examineKey(tx, key)));
  const warn = (event: string, message: string): Promise<void> | void =>
    deps.streams.err.isTTY && !log.isJson ? writeWarning(deps, message) : log.warn(event, { message });
  if (kind === "good") {
    if (key.length >= KEY_LENGTH_MIN) return;
    await warn("short_key", `SURVEYCTL_API_KEY has fewer than ${KEY_LENGTH_MIN} characters and could be guessed`);
    return;
  }
  const time = createTimeFormatter({ format: "iso", zone: deps.options.timeZone, now: unixSeconds(clock) });
  const state = kind === "unknown" ? "is not a key of this service" : `${PASTS[kind]} at ${time(at ?? 0)}`;
  const way = "surveyctl service key add makes a key, and the variable names one only when the data is created";
  await warn("key_opens_nothing", `SURVEYCTL_API_KEY ${state} and opens nothing; ${way}`);
}

const PASTS = { revoked: "was revoked", expired: "expired" } as const;
