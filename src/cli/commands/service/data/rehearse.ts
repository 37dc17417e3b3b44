/** `service rehearse`: who would be surveyed, and when. It works on a copy of the data, and nothing leaves. */
import type { Command } from "commander";
import { unixSeconds } from "../../../../runtime/clock.ts";
import { PERIODS, toPeriods } from "../../../../service/rehearsal/periods.ts";
import type { Rehearsal } from "../../../../service/rehearsal/results.ts";
import type { Flags } from "../../../args/flags.ts";
import { parseDelay } from "../../../args/time.ts";
import { badValue, parseChoice, parseInteger } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import { chooseServicePlace } from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeNote } from "../../../command/notes.ts";
import { createProgress } from "../../../command/progress.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import {
  existingDataFile,
  PROJECT_FLAGS,
  type ProjectChoice,
  readProject,
  rejectDryRun,
  showList,
} from "./data-file.ts";
import { wantsPictures } from "../../metrics/pictures.ts";
import { REHEARSED_MESSAGES, REHEARSED_PERIODS } from "../service-resources.ts";
import { drawRehearsal } from "./rehearsal-picture.ts";

const BY = [...PERIODS, "person"] as const;
const SEED_MAX = 2 ** 32;

export function registerRehearse(parent: Command, context: CommandContext): void {
  const command = context.verb(parent, {
    name: "rehearse",
    summary: "show who would be surveyed when, by the real rules on a copy of the data; nothing is sent or changed",
    examples: [
      "surveyctl service rehearse --until 365d --data survey.db",
      "surveyctl service rehearse --until 90d --by person -o csv > surveys.csv",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      { flag: "--until", value: "time", text: "end of the rehearsal, such as 365d; required" },
      { flag: "--by", value: "period", text: "one row for each", choices: BY, default: "week" },
      { flag: "--answer-rate", value: "share", text: "share of surveys that are answered, from 0 to 1", default: "0" },
      { flag: "--seed", value: "number", text: "seed of the choice of who answers", default: "1" },
    ],
    columns: { ...REHEARSED_PERIODS, json: [REHEARSED_PERIODS.columns, REHEARSED_MESSAGES.columns] },
  });
  context.action(command, (deps, flags) => runRehearse(deps, readOptions(deps, flags)));
}

interface RehearseOptions extends ProjectChoice {
  /** Unix seconds. */
  readonly until: number;
  readonly by: (typeof BY)[number];
  readonly answerRate: number;
  readonly seed: number;
}

function readOptions({ clock, options }: Deps, flags: Flags): RehearseOptions {
  const now = unixSeconds(clock);
  const context = { now, zone: options.timeZone };
  const seconds = flags.parse("--until", (text, flag) => parseDelay(text, flag, context));
  if (seconds === null) throw new UsageError("--until is required, such as --until 365d");
  if (seconds === 0) throw badValue("--until", flags.text("--until") ?? "", "a duration such as 365d, or a later time");
  return {
    ...readProject(flags),
    until: now + seconds,
    by: flags.parse("--by", (text, flag) => parseChoice(text, flag, BY)) ?? "week",
    answerRate: flags.parse("--answer-rate", parseShare) ?? 0,
    seed: flags.parse("--seed", (text, flag) => parseInteger(text, flag, { min: 0, max: SEED_MAX })) ?? 1,
  };
}

function parseShare(text: string, flag: string): number {
  const share = Number(text);
  if (text.trim() === "" || !(share >= 0 && share <= 1)) throw badValue(flag, text, "a number from 0 to 1 such as 0.2");
  return share;
}

async function runRehearse(deps: Deps, options: RehearseOptions): Promise<ExitCode> {
  rejectDryRun(deps);
  const rehearsal = await rehearseOn(deps, options);
  const { by } = options;
  if (by === "person") await showList(deps, REHEARSED_MESSAGES, rehearsal.messages);
  else if (wantsPictures(deps)) await deps.streams.out.write(drawRehearsal(deps, rehearsal, toPeriods(rehearsal, by)));
  else await showList(deps, REHEARSED_PERIODS, toPeriods(rehearsal, by));
  await writeNote(deps, "this was a rehearsal on a copy: nothing was sent, and nothing was changed");
  return EXIT.done;
}

async function rehearseOn(deps: Deps, options: RehearseOptions): Promise<Rehearsal> {
  const [{ rehearse }, { createChance }] = await Promise.all([
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
    return await asCliError(() => rehearse({ ...data, ...given, clock, random }));
  } finally {
    await progress.end();
  }
}
