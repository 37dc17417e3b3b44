import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { chooseDataFile, DATA_FLAG, type DataFileChoice } from "../../command/data-place.ts";
import type { Deps } from "../../command/deps.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { parsePublicUrl } from "../serve/address.ts";
import { HEALTH, showRecord } from "./data-file.ts";

export interface HealthOptions extends DataFileChoice {
  /** Where the service is asked; null: the one of the data file, or without one the default address. */
  readonly url: string | null;
}

/** Where `serve` listens unless it is told otherwise. */
const DEFAULT_URL = "http://127.0.0.1:8080";

/** For container checks and scripts: exit status 0 while the service takes work, else 1. */
export async function runHealth(deps: Deps, { url, data }: HealthOptions): Promise<ExitCode> {
  if (url !== null && data !== null) throw new UsageError("--url and --data cannot be used together");
  const named = data ?? deps.env["SURVEYCTL_DATA"] ?? "";
  const place = url === null && named !== "" ? (await chooseDataFile(deps, { data })).dataFile : (url ?? DEFAULT_URL);
  const unready = url === null && named !== "" ? await askFile(deps, place) : await askUrl(deps, place);
  if (unready !== null) throw new DataFileError("not_ready", `the service of ${place} ${unready}`);
  await showRecord(deps, HEALTH, { status: "ready" });
  return EXIT.done;
}

async function askFile({ clock, random }: Deps, dataFile: string): Promise<string | null> {
  const { askDataFile } = await import("../../../service/health.ts");
  return askDataFile(dataFile, clock, random);
}

async function askUrl({ clock }: Deps, url: string): Promise<string | null> {
  const { undiciTransport } = await import("../../../client/transport/undici-transport.ts");
  const { askService } = await import("../../../service/health.ts");
  // Straight there: a proxy would say how the proxy is.
  const transport = undiciTransport({ baseUrl: url, env: {}, connections: 1 });
  try {
    return await askService(transport, url, clock);
  } finally {
    await transport.close();
  }
}

export function registerHealth(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "health",
    summary: "check that a running service takes work, for container checks",
    examples: ["surveyctl service health", "surveyctl service health --data survey.db"],
    exits: [EXIT.done, EXIT.failed],
    flags: [
      { ...DATA_FLAG, text: "data file that is served" },
      { flag: "--url", value: "url", text: "address of the service", otherwise: DEFAULT_URL },
    ],
    columns: HEALTH,
  });
  context.action(verb, (deps, flags) =>
    runHealth(deps, { data: flags.text("--data"), url: flags.parse("--url", parsePublicUrl) }),
  );
}
