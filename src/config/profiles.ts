/** The saved connections: one readable JSON file, mode 0600 in a 0700 directory. */
import { chmod, mkdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { replaceFile } from "../runtime/file-replacement.ts";
import { ConfigError } from "./config-error.ts";

const ProfileSchema = v.union([
  v.strictObject({ base_url: v.string(), api_key: v.string() }),
  v.strictObject({ base_url: v.string(), key_command: v.string() }),
]);
const FileSchema = v.strictObject({
  default_profile: v.nullish(v.string(), null),
  profiles: v.record(v.string(), ProfileSchema),
});

/** A key, or a command that prints it when it is needed. */
export type Profile = v.InferOutput<typeof ProfileSchema>;

export interface Profiles {
  readonly defaultName: string | null;
  readonly byName: ReadonlyMap<string, Profile>;
  /** Something to warn about: others can read the file; null when all is well. */
  readonly warning: string | null;
}

/** No file is no profiles. Throws ConfigError for one that cannot be read or understood. */
export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readText(file);
  if (text === null) return { defaultName: null, byName: new Map(), warning: null };
  const content = parseFile(file, text);
  return {
    defaultName: content.default_profile,
    byName: new Map(Object.entries(content.profiles)),
    warning: await looseMode(file),
  };
}

/** Atomically; `token` makes the temporary file's name unique. */
export async function writeProfiles(
  file: string,
  { defaultName, byName }: Pick<Profiles, "defaultName" | "byName">,
  token: string,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // What was there before may be looser, and a replaced file keeps its mode.
  await chmod(path.dirname(file), 0o700);
  await chmod(file, 0o600).catch(ignoreMissing);
  const content = { default_profile: defaultName, profiles: Object.fromEntries(byName) };
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, token);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}

async function readText(file: string): Promise<string | null> {
  try {
    // Some editors begin a file with a byte order mark.
    return (await readFile(file, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    throw new ConfigError("invalid", `${file} cannot be read (${code ?? "unknown"})`, { cause: error });
  }
}

function parseFile(file: string, text: string): v.InferOutput<typeof FileSchema> {
  const hint = "fix or delete it, then run: surveyctl auth login";
  try {
    return v.parse(FileSchema, JSON.parse(text));
  } catch (error) {
    // The parser's own words quote the file, which may hold a key.
    const where = error instanceof v.ValiError ? ` at ${v.getDotPath(error.issues[0]) ?? "its top"}` : "";
    throw new ConfigError("invalid", `${file} is not a surveyctl configuration file${where}`, { hint });
  }
}

const OTHERS = 0o077;

async function looseMode(file: string): Promise<string | null> {
  const { mode } = await stat(file);
  // Windows has no such bits.
  if ((mode & OTHERS) === 0 || path.sep === "\\") return null;
  return `${file} can be read by others; run: chmod 600 ${file}`;
}
