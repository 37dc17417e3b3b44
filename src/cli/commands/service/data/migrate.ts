import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, type DataPlace } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeDone, writeWarning } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { dataAt, noteDataFile, PLACE, rejectDryRun } from "./data-file.ts";

/** Lets an owner update the schema, so that `serve --no-migrate` can run as a user who may not change it. */
export const migrate = defineCommand({
  name: "migrate",
  summary: "bring the schema of a database up to date",
  examples: [
    "surveyctl service migrate --database-file owner-url",
    "surveyctl service migrate --database postgres://owner@db.internal/surveys",
    "surveyctl service migrate --distribute --database postgres://owner@citus.internal/surveys",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  flags: {
    place: PLACE,
    distribute: { text: "spread the tables over a Citus cluster; stop all servers first" },
  },
  run: async (deps, { place: choice, distribute }) => {
    rejectDryRun(deps);
    const place = await chooseServicePlace(deps, await noteDataFile(deps, choice));
    if (distribute) return distributeAt(deps, place);
    const { openData } = await import("../../../../service/data-file/open-data-file.ts");
    const { clock, random } = deps;
    const data = dataAt(place, true);
    const store = await asCliError(() => openData({ ...data, clock, random }));
    await store.close();
    await writeDone(deps, `The schema of ${data.dataFile} is up to date.`);
  },
});

async function distributeAt(deps: Deps, place: DataPlace): Promise<void> {
  const { dataFile, database } = dataAt(place, true);
  if (database === null) throw new UsageError("--distribute needs a database: use --database or --database-file");
  const { distributeData } = await import("../../../../service/data-file/move-store.ts");
  const { clock, random } = deps;
  const { distributed, copied, missing } = await asCliError(() =>
    distributeData({ dataFile, database, clock, random }),
  );
  await writeDone(
    deps,
    `${dataFile}: ${distributed} tables are distributed by project, and every node has ${copied} others.`,
  );
  if (missing !== null)
    await writeWarning(deps, `citus.multi_shard_modify_mode was not set; as the database's owner, run: ${missing}`);
}
