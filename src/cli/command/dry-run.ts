import type { JsonObject } from "../../contract/json.ts";
import { routePath, type Route } from "../../contract/routes.ts";
import type { Deps } from "./deps.ts";

/** A write as `--dry-run` prints it: no credentials are part of it. */
export interface PlannedRequest {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** One JSON object on one line: `{"method","url","body"}`. */
export function toDryRunLine(baseUrl: string, { route, placeholders, body }: PlannedRequest): string {
  const url = `${baseUrl.replace(/\/+$/, "")}${routePath(route, placeholders)}`;
  return `${JSON.stringify({ method: route.method, url, body })}\n`;
}

export async function writeDryRun({ streams }: Deps, baseUrl: string, request: PlannedRequest): Promise<void> {
  await streams.out.write(toDryRunLine(baseUrl, request));
}
