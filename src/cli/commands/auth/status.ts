import type { Command } from "commander";
import { ClientError } from "../../../client/errors/client-error.ts";
import { ConnectionError } from "../../../client/errors/connection-error.ts";
import { AuthError } from "../../../client/errors/status-errors.ts";
import { localDataFile } from "../../../config/places.ts";
import { LOCAL_PROFILE, nameProfile, type RemoteConnection, resolveConnection } from "../../../config/settings.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { type Deps, settingsRequest, withClient } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { writeRecord } from "../../render/record-output.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { writeWarning } from "../../command/notes.ts";
import { answeredElse, BASE_URL_ADVICE, check } from "./check.ts";
import { maskKey, STATUS } from "./resource.ts";

export function registerStatus(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "status",
    summary: "show the connection in use, where each value comes from, and whether it works",
    examples: ["surveyctl auth status", "surveyctl auth status --profile prod --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
    columns: STATUS,
  });
  context.action(command, runStatus);
}

/** Exit 4 when the key is refused; an unreachable service is the client's error. */
export async function runStatus(deps: Deps): Promise<ExitCode> {
  const settings = await resolveConnection(settingsRequest(deps));
  return settings.kind === "local" ? showLocal(deps) : showRemote(deps, settings);
}

async function showLocal(deps: Deps): Promise<ExitCode> {
  await withClient(deps, (client) => client.getMetrics({}, { signal: deps.signal }));
  await write(deps, {
    profile: LOCAL_PROFILE,
    profile_source: nameProfile(settingsRequest(deps))?.source ?? null,
    base_url: localDataFile(deps),
    base_url_source: "built in",
    api_key: null,
    api_key_source: null,
    status: "ok",
  });
  return EXIT.done;
}

async function showRemote(deps: Deps, connection: RemoteConnection): Promise<ExitCode> {
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
    await check(deps, {
      baseUrl: baseUrl.value,
      key: apiKey.value,
      advice: (error) => adviseStatus(error, connection),
    });
  } catch (error) {
    await write(deps, { ...shown, status: toStatus(error) });
    throw error;
  }
  await write(deps, { ...shown, status: "ok" });
  return EXIT.done;
}

function toStatus(error: unknown): string {
  if (error instanceof AuthError) return "the key was refused";
  const status = error instanceof ClientError ? error.status : null;
  return status === null ? "not reachable" : `answered ${status}`;
}

/** Where the value at fault comes from stands above already: here is what to do about it. */
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
  await writeRecord(deps, STATUS, { json, text: JSON.stringify(json) });
}
