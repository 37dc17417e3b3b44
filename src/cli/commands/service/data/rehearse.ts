import { unixSeconds } from "../../../../runtime/clock.ts";
import { foldEmpty, type PeriodRow, PERIODS, toPeriods } from "../../../../service/rehearsal/periods.ts";
import type { Rehearsal } from "../../../../service/rehearsal/results.ts";
import { parseDelay } from "../../../args/time.ts";
import { badValue, parseInteger } from "../../../args/values.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, type DataFileChoice } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeNote } from "../../../kit/notes.ts";
import { createProgress } from "../../../kit/progress.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { toResource } from "../../../render/columns.ts";
import { chooseFormat } from "../../../render/list-output.ts";
import { existingData, LOCAL_PROJECT, PLACE, rejectDryRun, showList } from "./data-file.ts";

const SEED_MAX = 2 ** 32;

const REHEARSED_PERIODS = toResource("periods", {
  period: "text",
  surveys: "number",
  reminders: "number",
  held_throttled: "number",
  held_unsubscribed: "number",
  held_bounced: "number",
  held_limit: "number",
});
const REHEARSED_MESSAGES = toResource("surveys", {
  person_id: "id",
  email: "text",
  phone_number: "phone",
  kind: "text",
  channel: "text",
  platform: "text",
  sent_at: "time",
});

export const rehearse = defineCommand({
  name: "rehearse",
  summary: "show who would be surveyed when, using a copy of the data; nothing is sent or changed",
  examples: [
    "surveyctl service rehearse --until 365d --data survey.db",
    "surveyctl service rehearse --until 90d --by person -o csv > surveys.csv",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.refused],
  flags: {
    place: PLACE,
    project: LOCAL_PROJECT,
    until: { value: "time", text: "end of the rehearsal, such as 365d", required: true, parse: parseUntil },
    by: { value: "period", text: "one row for each", choices: [...PERIODS, "person"], default: "week" },
    answerRate: {
      value: "share",
      text: "share of surveys that are answered, from 0 to 1",
      default: "0",
      parse: parseShare,
    },
    seed: {
      value: "number",
      text: "random seed for choosing who answers",
      default: "1",
      parse: (text: string, flag: string) => parseInteger(text, flag, { min: 0, max: SEED_MAX }),
    },
  },
  columns: { ...REHEARSED_PERIODS, json: [REHEARSED_PERIODS.columns, REHEARSED_MESSAGES.columns] },
  columnsVary: true,
  run: async (deps, { place, by, ...options }) => {
    rejectDryRun(deps);
    const rehearsal = await rehearseOn(deps, place, options);
    if (by === "person") await showList(deps, REHEARSED_MESSAGES, rehearsal.messages);
    else await showPeriods(deps, rehearsal, toPeriods(rehearsal, by));
    await writeNote(deps, "this was a rehearsal on a copy: nothing was sent, and nothing was changed");
  },
});

/** Pictures and tables leave out empty periods and zeros; other formats have every row. */
async function showPeriods(deps: Deps, rehearsal: Rehearsal, rows: readonly PeriodRow[]): Promise<void> {
  const { wantsPictures } = await import("../../metrics/pictures.ts");
  const { drawRehearsal } = await import("./rehearsal-picture.ts");
  if (wantsPictures(deps)) return deps.streams.out.write(drawRehearsal(deps, rehearsal, foldEmpty(rows)));
  const isTable = TABLES.has(chooseFormat(deps));
  await showList(deps, REHEARSED_PERIODS, isTable ? foldEmpty(rows).map(withoutZeros) : rows);
}

function withoutZeros(row: PeriodRow): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === 0 ? null : value]));
}

const TABLES: ReadonlySet<string> = new Set(["table", "markdown"]);

function parseUntil(text: string, flag: string, { clock, options }: Deps): number {
  const now = unixSeconds(clock);
  const seconds = parseDelay(text, flag, { now, zone: options.timeZone });
  if (seconds === 0) throw badValue(flag, text, "a duration such as 365d, or a later time");
  return now + seconds;
}

interface RehearseOptions {
  readonly project: string;
  readonly until: number;
  readonly answerRate: number;
  readonly seed: number;
}

function parseShare(text: string, flag: string): number {
  const share = Number(text);
  if (text.trim() === "" || !(share >= 0 && share <= 1)) throw badValue(flag, text, "a number from 0 to 1 such as 0.2");
  return share;
}

async function rehearseOn(deps: Deps, choice: DataFileChoice, options: RehearseOptions): Promise<Rehearsal> {
  const [{ rehearse: run }, { createChance }] = await Promise.all([
    import("../../../../service/rehearsal/rehearse.ts"),
    import("../../../../service/rehearsal/simulated.ts"),
  ]);
  const { clock, random, signal } = deps;
  const { project, until, answerRate, seed } = options;
  const data = existingData(await chooseServicePlace(deps, choice));
  const progress = createProgress(deps, "days");
  const since = unixSeconds(clock);
  const onMoment = (at: number): Promise<void> => progress.update(Math.floor((at - since) / 86_400));
  try {
    const given = { project, until, answerRate, chance: createChance(seed), onMoment, signal };
    return await asCliError(() => run({ ...data, ...given, clock, random }));
  } finally {
    await progress.end();
  }
}
