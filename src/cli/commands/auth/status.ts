import { ClientError, nameCall } from "../../../client/errors/client-error.ts";
import { AuthError, ConnectionError, RefusedError } from "../../../client/errors/call-errors.ts";
import { isKeyAccess, KEY_ACCESS_HEADER, type KeyAccess } from "../../../contract/key-access.ts";
import { localDataFile } from "../../../config/places.ts";
import { LOCAL_PROFILE, nameProfile, type RemoteConnection, resolveConnection } from "../../../config/settings.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { type Deps, settingsRequest, withClient } from "../../kit/deps.ts";
import { EXIT } from "../../exit-codes.ts";
import { asRecord, writeRecord } from "../../render/record-output.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { writeWarning } from "../../kit/notes.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { createWaitLines } from "../../kit/wait-lines.ts";
import { ConfigError } from "../../../config/config-error.ts";

const STATUS_COLUMNS = [
  "profile",
  "profile_source",
  "base_url",
  "base_url_source",
  "api_key",
  "api_key_source",
  "access",
  "status",
];

const STATUS: Resource = { noun: "settings", columns: STATUS_COLUMNS.map((name) => pathColumn(name)) };

export const authStatus = defineCommand({
  name: "status",
  summary: "show the connection in use, where each value comes from, and whether it works",
  examples: ["surveyctl auth status", "surveyctl auth status --profile prod --json"],
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
  columns: STATUS,
  run: async (deps) => {
    const settings = await resolveConnection(settingsRequest(deps));
    return settings.kind === "local" ? showLocal(deps) : showRemote(deps, settings);
  },
});

async function showLocal(deps: Deps): Promise<void> {
  await withClient(deps, (client) => client.getMetrics({}, { signal: deps.signal }));
  await write(deps, {
    profile: LOCAL_PROFILE,
    profile_source: nameProfile(settingsRequest(deps))?.source ?? null,
    base_url: localDataFile(deps),
    base_url_source: "built in",
    api_key: null,
    api_key_source: null,
    access: "full",
    status: "ok",
  });
}

async function showRemote(deps: Deps, connection: RemoteConnection): Promise<void> {
  const { profile, baseUrl, apiKey, warning } = connection;
  if (warning !== null) await writeWarning(deps, warning);
  const shown = {
    profile: profile?.value ?? null,
    profile_source: profile?.source ?? null,
    base_url: baseUrl.value,
    base_url_source: baseUrl.source,
    api_key: maskKey(apiKey.value),
    api_key_source: apiKey.source,
  };
  try {
    const access = await check(deps, baseUrl.value, apiKey.value, (error) => adviseStatus(error, connection));
    await write(deps, { ...shown, access: access ?? UNKNOWN_ACCESS, status: "ok" });
  } catch (error) {
    await write(deps, { ...shown, access: UNKNOWN_ACCESS, status: toStatus(error) });
    throw error;
  }
}

export const UNKNOWN_ACCESS = "unknown";

function toStatus(error: unknown): string {
  if (error instanceof AuthError) return "the key was refused";
  const status = error instanceof ClientError ? error.status : null;
  return status === null ? "not reachable" : `answered ${status}`;
}

function adviseStatus(error: ClientError, { profile, baseUrl, apiKey }: RemoteConnection): string | null {
  if (error instanceof ConnectionError)
    return error.hint ?? `Check the address (from ${baseUrl.source}), and that the service is running.`;
  if (answeredElse(error)) return BASE_URL_ADVICE;
  if (!(error instanceof AuthError)) return null;
  const isInProfile = profile !== null && apiKey.source.endsWith(`profile ${profile.value}`);
  if (!isInProfile)
    return `The key comes from ${apiKey.source}, which takes precedence over a profile; set another there.`;
  const save = `surveyctl auth login --profile ${profile.value}`;
  const isCommand = apiKey.source.startsWith("key command");
  return isCommand
    ? `Check what the key command prints, or save another: ${save} --key-command COMMAND`
    : `Save another key: ${save}`;
}

async function write(deps: Deps, json: JsonObject): Promise<void> {
  await writeRecord(deps, STATUS, asRecord(json));
}

const SHOWN = 4;

export function maskKey(key: string): string {
  return key.length > SHOWN * 2 ? `…${key.slice(-SHOWN)}` : "…";
}

/** Makes a harmless request and returns the key's access. Null if the service doesn't report it. */
export async function check(
  deps: Deps,
  baseUrl: string,
  key: string,
  advice: (error: ClientError) => string | null,
): Promise<KeyAccess | null> {
  if (key === "") throw new ConfigError("missing", "the key is empty");
  const { openClient } = await import("../../kit/connect.ts");
  const waits = createWaitLines(deps);
  const client = openClient(deps, { baseUrl, apiKey: key, waits, retriesMax: 1 });
  try {
    const { status, headers, json } = await client.getMetrics({}, { signal: deps.signal });
    if (!("nps" in json || "response_count" in json)) throw noMetrics(baseUrl, status);
    const access = headers[KEY_ACCESS_HEADER];
    return isKeyAccess(access) ? access : null;
  } catch (error) {
    const hint = error instanceof ClientError ? advice(error) : null;
    throw error instanceof ClientError && hint !== null ? error.advise(hint) : error;
  } finally {
    await waits.end();
    await client.close();
  }
}

/** Detects a wrong base URL: without this check, any JSON object could pass for metrics. */
function noMetrics(baseUrl: string, status: number): ClientError {
  const call = nameCall("GET", `${baseUrl}${ROUTES.getMetrics.path}.json`);
  return new ClientError("the service answers without nps or response_count", { code: "bad_reply", call, status });
}

export const BASE_URL_ADVICE = "Is the base URL right? It is the part before /v1, such as https://surveys.example.com";

export function answeredElse(error: ClientError): boolean {
  return error instanceof RefusedError || error.code === "bad_reply";
}
