/** `service rehearse`: who would be surveyed, and when. It works on a copy of the data, and nothing leaves. */
import { unixSeconds } from "../../../../runtime/clock.ts";
import { PERIODS, toPeriods } from "../../../../service/rehearsal/periods.ts";
import type { Rehearsal } from "../../../../service/rehearsal/results.ts";
import { parseDelay } from "../../../args/time.ts";
import { badValue, parseInteger } from "../../../args/values.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import { chooseServicePlace, dataPlace, type DataFileChoice } from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeNote } from "../../../command/notes.ts";
import { createProgress } from "../../../command/progress.ts";
import { timeContext } from "../../../command/time-flags.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { existingDataFile, PROJECT_FLAG, rejectDryRun, showList } from "./data-file.ts";
import { wantsPictures } from "../../metrics/pictures.ts";
import { REHEARSED_MESSAGES, REHEARSED_PERIODS } from "../service-resources.ts";
import { drawRehearsal } from "./rehearsal-picture.ts";

const BY = [...PERIODS, "person"] as const;
const SEED_MAX = 2 ** 32;

export const rehearse = defineCommand({
  name: "rehearse",
  summary: "show who would be surveyed when, by the real rules on a copy of the data; nothing is sent or changed",
  examples: [
    "surveyctl service rehearse --until 365d --data survey.db",
    "surveyctl service rehearse --until 90d --by person -o csv > surveys.csv",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.refused],
  flags: {
    data: dataPlace(),
    project: PROJECT_FLAG,
    until: {
      flag: "--until",
      value: "time",
      text: "end of the rehearsal, such as 365d",
      required: true,
      parse: parseUntil,
    },
    by: { flag: "--by", value: "period", text: "one row for each", choices: BY, default: "week" },
    answerRate: {
      flag: "--answer-rate",
      value: "share",
      text: "share of surveys that are answered, from 0 to 1",
      default: "0",
      parse: parseShare,
    },
    seed: {
      flag: "--seed",
      value: "number",
      text: "seed of the choice of who answers",
      default: "1",
      parse: (text, place) => parseInteger(text, place, { min: 0, max: SEED_MAX }),
    },
  },
  columns: { ...REHEARSED_PERIODS, json: [REHEARSED_PERIODS.columns, REHEARSED_MESSAGES.columns] },
  run: async (deps, { by, ...options }) => {
    rejectDryRun(deps);
    const rehearsal = await rehearseOn(deps, options);
    if (by === "person") await showList(deps, REHEARSED_MESSAGES, rehearsal.messages);
    else if (wantsPictures(deps))
      await deps.streams.out.write(drawRehearsal(deps, rehearsal, toPeriods(rehearsal, by)));
    else await showList(deps, REHEARSED_PERIODS, toPeriods(rehearsal, by));
    await writeNote(deps, "this was a rehearsal on a copy: nothing was sent, and nothing was changed");
  },
});

/** Unix seconds. */
function parseUntil(text: string, place: string, deps: Deps): number {
  const context = timeContext(deps);
  const seconds = parseDelay(text, place, context);
  if (seconds === 0) throw badValue(place, text, "a duration such as 365d, or a later time");
  return context.now + seconds;
}

function parseShare(text: string, flag: string): number {
  const share = Number(text);
  if (text.trim() === "" || !(share >= 0 && share <= 1)) throw badValue(flag, text, "a number from 0 to 1 such as 0.2");
  return share;
}

interface RehearsalOptions extends DataFileChoice {
  readonly project: string;
  /** Unix seconds. */
  readonly until: number;
  readonly answerRate: number;
  readonly seed: number;
}

async function rehearseOn(deps: Deps, options: RehearsalOptions): Promise<Rehearsal> {
  const [service, { createChance }] = await Promise.all([
    import("../../../../service/rehearsal/rehearse.ts"),
    import("../../../../service/rehearsal/chance.ts"),
  ]);
  const { clock, random, signal } = deps;
  const { project, until, answerRate, seed } = options;
  const place = await chooseServicePlace(deps, options);
  const data =
    place.kind === "file"
      ? { dataFile: existingDataFile(place) }
      : { dataFile: "", database: { url: place.url, mayMigrate: false } };
  const progress = createProgress(deps, "days");
  const since = unixSeconds(clock);
  const onMoment = (at: number): Promise<void> => progress.update(Math.floor((at - since) / 86_400));
  try {
    const given = { project, until, answerRate, chance: createChance(seed), onMoment, signal };
    return await asCliError(() => service.rehearse({ ...data, ...given, clock, random }));
  } finally {
    await progress.end();
  }
}
