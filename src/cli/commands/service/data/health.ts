import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { CommandContext } from "../../../command/command-context.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import {
  chooseServicePlace,
  DATA_FLAG,
  DATABASE_FLAGS,
  type DataFileChoice,
  type DataPlace,
  readPlace,
  showDatabase,
} from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { DEFAULT_ADDRESS } from "../../../../service/service-address.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { parsePublicUrl } from "../../serve/address.ts";
import { showRecord } from "./data-file.ts";
import { HEALTH } from "../service-resources.ts";

interface HealthOptions extends DataFileChoice {
  /** The address of the service; null: the data, where they are named, or the default address. */
  readonly url: string | null;
}

/** For container checks and scripts: exit status 0 while the service takes work, else 1. */
async function runHealth(deps: Deps, { url, data }: HealthOptions): Promise<ExitCode> {
  if (url !== null && data !== null)
    throw new UsageError("--url cannot be used with --data, --database or --database-file");
  const isFileNamed = url === null && (deps.env["SURVEYCTL_DATA"] ?? "") !== "";
  // A variable that names the database says nothing of which of its services is meant.
  if (data === null && !isFileNamed)
    return tell(deps, url ?? DEFAULT_ADDRESS, await askUrl(deps, url ?? DEFAULT_ADDRESS));
  const place = await chooseServicePlace(deps, { data });
  return tell(deps, place.kind === "file" ? place.dataFile : showDatabase(place.url), await askPlace(deps, place));
}

async function tell(deps: Deps, name: string, unready: string | null): Promise<ExitCode> {
  if (unready !== null) throw new DataFileError("not_ready", `the service of ${name} ${unready}`);
  await showRecord(deps, HEALTH, { status: "ready" });
  return EXIT.done;
}

async function askPlace({ clock, random }: Deps, place: DataPlace): Promise<string | null> {
  if (place.kind === "file" && !existsSync(place.dataFile)) return "is not running";
  const { askData } = await import("../../../../service/data-health.ts");
  const choice =
    place.kind === "file"
      ? { dataFile: place.dataFile, database: null }
      : { dataFile: "", database: { url: place.url, mayMigrate: false } };
  return asCliError(() => askData(choice, clock, random));
}

async function askUrl({ clock }: Deps, url: string): Promise<string | null> {
  const { undiciTransport } = await import("../../../../client/transport/undici-transport.ts");
  const { askService } = await import("../../../../service/health.ts");
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
    examples: [
      "surveyctl service health",
      "surveyctl service health --data survey.db",
      "surveyctl service health --database-file /run/secrets/database",
    ],
    exits: [EXIT.done, EXIT.failed],
    flags: [
      { ...DATA_FLAG, text: "data file that is served" },
      { flag: "--database", value: "url", text: "PostgreSQL database that is served" },
      ...DATABASE_FLAGS.filter(({ flag }) => flag !== "--database"),
      { flag: "--url", value: "url", text: "address of the service", otherwise: DEFAULT_ADDRESS },
    ],
    columns: HEALTH,
  });
  context.action(verb, (deps, flags) =>
    runHealth(deps, { data: readPlace(flags), url: flags.parse("--url", parsePublicUrl) }),
  );
}
