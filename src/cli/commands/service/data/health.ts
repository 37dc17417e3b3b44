import { existsSync } from "node:fs";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, type DataPlace, dataPlace } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { DEFAULT_ADDRESS } from "../../../../service/service-address.ts";
import { DataFileError } from "../../../errors/command-errors.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { parsePublicUrl } from "../../serve/address.ts";
import { dataAt, showRecord } from "./data-file.ts";
import { toResource } from "../../../render/columns.ts";

const HEALTH = toResource("service", { status: "text" });

export const health = defineCommand({
  name: "health",
  summary: "check that a running service is ready, for container health checks",
  examples: [
    "surveyctl service health",
    "surveyctl service health --data survey.db",
    "surveyctl service health --database-file /run/secrets/database",
  ],
  exits: [EXIT.done, EXIT.failed],
  flags: {
    data: dataPlace("check that a service is running on this data file"),
    url: {
      value: "url",
      text: "address of the service",
      otherwise: DEFAULT_ADDRESS,
      parse: parsePublicUrl,
      conflicts: ["--data", "--database", "--database-file"],
    },
  },
  columns: HEALTH,
  run: async (deps, { url, data }) => {
    const isFileNamed = url === null && (deps.env["SURVEYCTL_DATA"] ?? "") !== "";
    // A database named by the variable may be shared by many services.
    if (data === null && !isFileNamed)
      return report(deps, url ?? DEFAULT_ADDRESS, await askUrl(deps, url ?? DEFAULT_ADDRESS));
    const place = await chooseServicePlace(deps, { data });
    return report(deps, dataAt(place).dataFile, await askPlace(deps, place));
  },
});

async function report(deps: Deps, name: string, unready: string | null): Promise<void> {
  if (unready !== null) throw new DataFileError("not_ready", `the service of ${name} ${unready}`);
  await showRecord(deps, HEALTH, { status: "ready" });
}

async function askPlace({ clock, random }: Deps, place: DataPlace): Promise<string | null> {
  if (place.kind === "file" && !existsSync(place.dataFile)) return "is not running";
  const { askData } = await import("../../../../service/data-health.ts");
  return asCliError(() => askData(dataAt(place), clock, random));
}

async function askUrl({ clock }: Deps, url: string): Promise<string | null> {
  const { undiciTransport } = await import("../../../../client/transport/undici-transport.ts");
  const { askService } = await import("../../../../service/health.ts");
  // Bypasses the proxy, which would report its own health.
  const transport = undiciTransport({ baseUrl: url, env: {}, connections: 1 });
  try {
    return await askService(transport, url, clock);
  } finally {
    await transport.close();
  }
}
