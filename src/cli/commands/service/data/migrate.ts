import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace } from "../../../kit/data/data-place.ts";
import { writeDone } from "../../../kit/notes.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { dataAt, noteDataFile, PLACE, rejectDryRun } from "./data-file.ts";

/** For `serve --no-migrate`, which can then run as a user who may not change the schema. */
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
    const { openData } = await import("../../../../service/data-file/open-data-file.ts");
    const { clock, random } = deps;
    const data = dataAt(place, true);
    const store = await asCliError(() => openData({ ...data, clock, random }));
    await store.close();
    await writeDone(deps, `The schema of ${data.dataFile} is up to date.`);
  },
});
