import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, showDatabase } from "../../../kit/data/data-place.ts";
import { writeDone } from "../../../kit/notes.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { noteDataFile, PLACE, rejectDryRun } from "./data-file.ts";

/** For a user who may change the schema, so that `serve --no-migrate` can run as one who may not. */
export const migrate = defineCommand({
  name: "migrate",
  summary: "bring the schema of a database up to date",
  examples: [
    "surveyctl service migrate --database-file owner-url",
    "surveyctl service migrate --database postgres://owner@db.internal/surveys",
  ],
  exits: [EXIT.done, EXIT.failed],
  flags: { place: PLACE },
  run: async (deps, { place: choice }) => {
    rejectDryRun(deps);
    const place = await chooseServicePlace(deps, await noteDataFile(deps, choice));
    const name = place.kind === "file" ? place.dataFile : showDatabase(place.url);
    const { openData } = await import("../../../../service/data-file/open-data-file.ts");
    const database = place.kind === "file" ? null : { url: place.url, mayMigrate: true };
    const { clock, random } = deps;
    const store = await asCliError(() => openData({ dataFile: name, database, clock, random }));
    await store.close();
    await writeDone(deps, `The schema of ${name} is up to date.`);
  },
});
