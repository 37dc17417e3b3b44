/** Saved connections: a JSON file with mode 0600 in a 0700 folder. */
import { chmod, realpath, rename, stat } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { ignoreMissing, replaceFile } from "../runtime/files/file-replacement.ts";
import { makeFolder } from "../runtime/files/make-folder.ts";
import { ownUserId } from "../runtime/files/processes.ts";
import { systemErrorText } from "../runtime/files/system-words.ts";
import { readGivenFile } from "../runtime/pipe-reader.ts";
import { ConfigError } from "./config-error.ts";
import { findJsonProblem } from "./json-problem.ts";

const access = v.optional(v.picklist(["full", "read-only", "admin"]));
const ProfileSchema = v.union([
  v.strictObject({ base_url: v.string(), api_key: v.string(), access }),
  v.strictObject({ base_url: v.string(), key_command: v.string(), access }),
]);
const FileSchema = v.strictObject({
  default_profile: v.nullish(v.string(), null),
  profiles: v.record(v.string(), ProfileSchema),
});

export type Profile = v.InferOutput<typeof ProfileSchema>;

export interface Profiles {
  readonly defaultName: string | null;
  readonly byName: ReadonlyMap<string, Profile>;
  readonly warning: string | null;
  /** Why commands in the file must not run (another user could change the file); null if they can. */
  readonly untrusted: string | null;
}

export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readText(file);
  if (text === null) return { defaultName: null, byName: new Map(), warning: null, untrusted: null };
  const content = parseFile(file, text);
  return {
    defaultName: content.default_profile,
    byName: new Map(Object.entries(content.profiles)),
    warning: await looseMode(file),
    untrusted: await othersCanWrite(file),
  };
}

export async function writeProfiles(
  file: string,
  { defaultName, byName }: Pick<Profiles, "defaultName" | "byName">,
  token: string,
): Promise<void> {
  await makeFolder(path.dirname(file), 0o700);
  // An existing folder may have a looser mode, and a replaced file keeps its mode.
  await chmod(path.dirname(file), 0o700);
  await chmod(file, 0o600).catch(ignoreMissing);
  const content = { default_profile: defaultName, profiles: Object.fromEntries(byName) };
  await replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, token);
}

async function readText(file: string): Promise<string | null> {
  try {
    // Some editors write a byte order mark.
    return (await readGivenFile(file)).toString().replace(/^\uFEFF/, "");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTDIR: some accounts have /dev/null as their home.
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new ConfigError("invalid", `${file} cannot be read: ${systemErrorText(error)}`, null, { cause: error });
  }
}

export async function setAside(file: string): Promise<string> {
  const aside = `${file}.broken`;
  await rename(file, aside);
  return aside;
}

function parseFile(file: string, text: string): v.InferOutput<typeof FileSchema> {
  const json = parseJson(file, text);
  try {
    return v.parse(FileSchema, json);
  } catch (error) {
    const where = error instanceof v.ValiError ? ` at ${v.getDotPath(error.issues[0]) ?? "its top"}` : "";
    throw new ConfigError("broken", `${file} is not a configuration file of surveyctl${where}`, {
      code: "repair_file",
    });
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which may contain a key.
    const { line, column } = findJsonProblem(text);
    throw new ConfigError("broken", `${file}:${line}:${column}: invalid JSON`, { code: "repair_file" });
  }
}

const OTHERS = 0o077;

async function looseMode(file: string): Promise<string | null> {
  const { mode } = await stat(file);
  if ((mode & OTHERS) === 0 || path.sep === "\\") return null;
  return `${file} can be read by others; run: chmod 600 ${file}`;
}

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Explains why another user (other than root) could change the file, its folder or its link target's folder; null if
 * none can.
 */
async function othersCanWrite(file: string): Promise<string | null> {
  const own = ownUserId();
  if (own === null) return null;
  const target = await realpath(file);
  for (const place of new Set([file, path.dirname(file), path.dirname(target)])) {
    const { uid, mode } = await stat(place);
    if (uid !== own && uid !== 0) return `${place} belongs to another user`;
    if ((mode & WRITABLE_BY_OTHERS) !== 0) return `${place} can be written by others`;
  }
  return null;
}
