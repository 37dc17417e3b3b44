import { configFile, localDataFile } from "../../../config/places.ts";
import { givenBaseUrl, LOCAL_PROFILE, nameProfile } from "../../../config/settings.ts";
import { databaseUrlProblem } from "../../../service/store/database-url.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { FlagGroup } from "../flag-spec.ts";
import { type Deps, settingsRequest } from "../deps.ts";

export type PlaceChoice = string | DatabaseAddress;

type DatabaseAddress = ({ readonly url: string } | { readonly urlFile: string }) & {
  /** Allows connections without TLS. If false, the URL decides. */
  readonly isInsecureAllowed: boolean;
};

export interface DataFileChoice {
  readonly data: PlaceChoice | null;
}

export type DataPlace =
  | { readonly kind: "file"; readonly dataFile: string; readonly isNamed: boolean }
  | { readonly kind: "database"; readonly url: string };

export async function choosePlace(
  { env, platform }: Pick<Deps, "env" | "platform">,
  { data }: DataFileChoice,
): Promise<DataPlace> {
  const [file, url] = [env["SURVEYCTL_DATA"] ?? "", env["SURVEYCTL_DATABASE"] ?? ""];
  if (data === "") throw new UsageError("--data: the file name is empty");
  if (data === null && file !== "" && url !== "")
    throw new UsageError("SURVEYCTL_DATA and SURVEYCTL_DATABASE cannot be used together");
  const choice = data ?? (url === "" ? file : { url, isInsecureAllowed: false });
  if (typeof choice !== "string") return { kind: "database", url: await readUrl(choice, data === null) };
  const dataFile = choice === "" ? localDataFile({ env, platform }) : choice;
  refuseMemory(dataFile, data === null ? "SURVEYCTL_DATA" : "--data");
  return { kind: "file", dataFile, isNamed: choice !== "" };
}

/**
 * For commands that work on data on this machine. Uses the file of the profile `local` only if that profile was chosen.
 * Throws UsageError, also for profiles and addresses of remote services.
 */
export async function chooseServicePlace(deps: Deps, choice: DataFileChoice): Promise<DataPlace> {
  const request = settingsRequest(deps);
  if (choice.data !== null || (isPlaceSet(deps) && deps.options.profile === null)) return choosePlace(deps, choice);
  const profile = nameProfile(request);
  if (profile?.value === LOCAL_PROFILE) return localPlace(deps);
  throw notHere((profile ?? givenBaseUrl(request))?.source ?? null, localDataFile(deps));
}

/**
 * For commands that also work over HTTP. A place or profile on the command line comes first, then the variables, then
 * the saved default profile. Throws UsageError.
 */
export async function chooseAnyPlace(
  deps: Deps,
  choice: DataFileChoice,
): Promise<DataPlace | { readonly kind: "remote" }> {
  const { env, options } = deps;
  const typed = options.profile === null ? (options.baseUrl === null ? null : "--base-url") : "--profile";
  if (typed !== null && choice.data !== null)
    throw new UsageError(`${typed} cannot be used with --data, --database or --database-file`);
  if (typed === null && (choice.data !== null || isPlaceSet(deps))) return choosePlace(deps, choice);
  const request = settingsRequest(deps);
  const profile = nameProfile(request);
  if (profile?.value === LOCAL_PROFILE && options.baseUrl === null) return localPlace(deps);
  const hasKey = givenBaseUrl(request) !== null && (env["SURVEYCTL_API_KEY"] ?? "").trim() !== "";
  if (typed !== null || profile !== null || hasKey) return { kind: "remote" };
  const { readProfiles } = await import("../../../config/profiles.ts");
  const { defaultName } = await readProfiles(configFile(request));
  if (defaultName !== null) return { kind: "remote" };
  throw notHere(null, localDataFile(deps));
}

function isPlaceSet({ env }: Deps): boolean {
  return [env["SURVEYCTL_DATA"], env["SURVEYCTL_DATABASE"]].some((place) => (place ?? "") !== "");
}

function localPlace(deps: Deps): DataPlace {
  return { kind: "file", dataFile: localDataFile(deps), isNamed: false };
}

/** Throws UsageError for a remote service's flags, for SURVEYCTL_PROFILE without a place, and for two places. */
export function rejectRemoteFlags(deps: Deps, { data }: DataFileChoice): void {
  const { profile, baseUrl } = deps.options;
  if (baseUrl !== null) throw notHere("--base-url", "");
  if (profile !== null && profile !== LOCAL_PROFILE) throw notHere("--profile", "");
  const exported = data === null && !isPlaceSet(deps) ? (deps.env["SURVEYCTL_PROFILE"] ?? "").trim() : "";
  if (profile === null && exported !== "" && exported !== LOCAL_PROFILE) throw notHere("SURVEYCTL_PROFILE", "");
  if (profile !== null && data !== null)
    throw new UsageError(`--profile ${LOCAL_PROFILE} cannot be used with --data, --database or --database-file`);
}

/** `source` is the flag or variable that chose a remote service; null if none did. */
function notHere(source: string | null, localFile: string): UsageError {
  return new UsageError("this command works on a data file or database on this machine; pass --data", {
    hint:
      source === null
        ? `--profile ${LOCAL_PROFILE} works on ${localFile}`
        : `${source} names a service to call over HTTP`,
  });
}

/** SQLite would keep `:memory:` in memory and lose acknowledged writes. */
export function refuseMemory(dataFile: string, place: string): void {
  if (dataFile !== ":memory:") return;
  const hint = "./:memory: is a file of that name";
  throw new UsageError(`${place}: :memory: keeps nothing after the command; name a file`, { hint });
}

async function readUrl(choice: DatabaseAddress, isFromVariable: boolean): Promise<string> {
  const given = "url" in choice ? choice.url : await readUrlFile(choice);
  const url = choice.isInsecureAllowed ? allowInsecure(given) : given;
  const flag = "url" in choice ? "--database" : `--database-file ${choice.urlFile}`;
  return parseDatabaseUrl(url, isFromVariable ? "SURVEYCTL_DATABASE" : flag);
}

/** Messages don't repeat the URL, which may contain a password. Throws UsageError. */
export function parseDatabaseUrl(url: string, place: string): string {
  const problem = databaseUrlProblem(url);
  if (problem !== null) throw new UsageError(`${place}: ${problem}`);
  return url;
}

function allowInsecure(url: string): string {
  if (!URL.canParse(url)) return url;
  const allowed = new URL(url);
  allowed.searchParams.set("insecure", "on");
  return allowed.href;
}

async function readUrlFile(choice: { readonly urlFile: string }): Promise<string> {
  const { readFlagFile } = await import("../../args/text-file.ts");
  return (await readFlagFile("--database-file", choice.urlFile)).trim();
}

export function readPlace(flags: Flags): PlaceChoice | null {
  const [file, url, urlFile] = [flags.text("--data"), flags.text("--database"), flags.text("--database-file")];
  const given = ["--data", "--database", "--database-file"].filter((flag) => flags.text(flag) !== null);
  if (given.length > 1) throw new UsageError(`${given.slice(0, 2).join(" and ")} cannot be used together`);
  const isInsecureAllowed = flags.is("--insecure-database");
  if (url !== null) return { url, isInsecureAllowed };
  if (urlFile !== null) return { urlFile, isInsecureAllowed };
  if (isInsecureAllowed)
    throw new UsageError("--insecure-database requires --database or --database-file", {
      hint: "in SURVEYCTL_DATABASE, add insecure=on to the URL",
    });
  return file;
}

/** Connection parameters that are safe to show. Any other parameter could be a secret. */
const SHOWN = new Set(["host", "port", "user", "sslmode", "sslrootcert", "prepare", "max", "insecure"]);

/** Removes the password. What remains still identifies the same database. */
export function showDatabase(url: string): string {
  if (!URL.canParse(url)) return "the database";
  const { protocol, username, host, pathname, search } = new URL(url);
  const parameters = search.slice(1).split("&");
  const shown = parameters.filter((parameter) => SHOWN.has(parameter.split("=")[0] ?? "")).join("&");
  const user = username === "" ? "" : `${username}@`;
  return `${protocol}//${user}${host}${pathname}${shown === "" ? "" : `?${shown}`}`;
}

const DATABASE_FLAGS: readonly FlagRecord[] = [
  {
    flag: "--database",
    value: "url",
    text: "PostgreSQL database instead of a file",
    environment: "SURVEYCTL_DATABASE",
  },
  { flag: "--database-file", value: "file", text: "file that contains the URL of the database" },
  { flag: "--insecure-database", text: "allow sslmode=disable to a server on another machine" },
];

const DATA_FLAG: FlagRecord = {
  flag: "--data",
  value: "file",
  text: "data file; a running server may be using it",
  environment: "SURVEYCTL_DATA",
};

export const DATA_FLAGS: readonly FlagRecord[] = [DATA_FLAG, ...DATABASE_FLAGS];

export function dataPlace(text = DATA_FLAG.text): FlagGroup<PlaceChoice | null> {
  return { records: [{ ...DATA_FLAG, text }, ...DATABASE_FLAGS], read: readPlace };
}
