import type { RowSource, RowToSend } from "../../../bulk/import/journal/decide-rows.ts";
import { ClientError } from "../../../client/errors/client-error.ts";
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES, SERVES_STATUSES } from "../../../contract/routes.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { resolveConnection } from "../../../config/settings.ts";
import { type Connection, type Deps, settingsRequest, withClient } from "../../kit/deps.ts";
import type { CheckedFile } from "../import-request.ts";
import { readSuppressed } from "../suppressed.ts";
import { previewImport } from "./preview.ts";
import type { PlannedRun } from "./plan.ts";

/** With `--skip-suppressed`, asks the service whom it suppresses. Throws ClientError. */
export async function planRun(
  { deps, request }: CheckedFile,
  { client, place, profile }: Connection,
  chosen: RowSource & { readonly rows: number },
): Promise<PlannedRun> {
  const { signal } = deps;
  const isOwn = await isOwnService(client, signal);
  const asking = { client, signal, concurrency: deps.options.concurrency };
  const suppressed = request.skipSuppressed === true ? await readSuppressed({ ...asking, source: chosen }) : () => null;
  const source: RowSource = { ...chosen, skip: (line) => chosen.skip(line) ?? suppressed(line) };
  const bodyOf = (row: RowToSend): JsonObject =>
    request.plan(row, { position: row.position, rows: chosen.rows }).body ?? {};
  return {
    place,
    profile,
    source,
    preview: async () => (isOwn && request.kind.sendsSurveys ? previewImport({ ...asking, source, bodyOf }) : null),
  };
}

/** Uses a harmless request, which also detects a refused key early and reads the service's clock. */
async function isOwnService(client: Client, signal: AbortSignal): Promise<boolean> {
  const { headers } = await client.page({ route: ROUTES.listPeople, parameters: { per_page: 1 }, signal });
  return Object.keys(SERVES_STATUSES).every((name) => headers?.[name] !== undefined);
}

/** True if the server isn't ours and may accept rows that ours would refuse. False if it can't be reached. */
export async function isOtherService(deps: Deps): Promise<boolean> {
  try {
    if ((await resolveConnection(settingsRequest(deps))).kind === "local") return false;
    const { connect } = await import("../../kit/connect.ts");
    const options = { ...deps.options, retries: 0, quiet: true };
    return await withClient(
      { ...deps, connect: () => connect({ ...deps, options }) },
      async (client) => !(await isOwnService(client, deps.signal)),
    );
  } catch (error) {
    deps.signal.throwIfAborted();
    if (error instanceof ClientError || error instanceof ConfigError) return false;
    throw error;
  }
}
