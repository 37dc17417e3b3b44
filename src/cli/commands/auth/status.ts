import type { Command } from "commander";
import { AuthError } from "../../../client/errors/status-errors.ts";
import { localDataFile } from "../../../config/places.ts";
import { resolveConnection, type RemoteConnection } from "../../../config/settings.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { settingsRequest } from "../../deps/settings-request.ts";
import type { Deps } from "../../deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { writeRecord } from "../../render/record-output.ts";
import type { CommandContext } from "../command-context.ts";
import { writeWarning } from "../notes.ts";
import { withClient } from "../with-client.ts";
import { check } from "./login.ts";
import { maskKey, STATUS } from "./resource.ts";

export function registerStatus(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "status",
    summary: "which connection is used, where each value comes from, and whether the key works",
    examples: ["surveyctl auth status", "surveyctl auth status --profile prod --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth],
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
    profile: "local",
    base_url: localDataFile(deps),
    base_url_source: "built in",
    api_key: null,
    api_key_source: null,
    status: "ok",
  });
  return EXIT.done;
}

async function showRemote(deps: Deps, { profile, baseUrl, apiKey, warning }: RemoteConnection): Promise<ExitCode> {
  if (warning !== null) await writeWarning(deps, warning);
  const shown = {
    profile: profile?.value ?? null,
    base_url: baseUrl.value,
    base_url_source: baseUrl.source,
    api_key: maskKey(apiKey.value),
    api_key_source: apiKey.source,
  };
  try {
    await check(deps, baseUrl.value, apiKey.value);
  } catch (error) {
    await write(deps, { ...shown, status: error instanceof AuthError ? "the key was refused" : "not reachable" });
    throw error;
  }
  await write(deps, { ...shown, status: "ok" });
  return EXIT.done;
}

async function write(deps: Deps, json: JsonObject): Promise<void> {
  await writeRecord(deps, STATUS, { json, text: JSON.stringify(json) });
}
