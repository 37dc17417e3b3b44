import type { Command } from "commander";
import { badValue, readDuration } from "../../../args/values.ts";
import type { Deps } from "../../../command/deps.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showRecord, THROTTLE, withAdmin } from "../data/data-file.ts";

export interface ThrottleOptions extends ProjectChoice {
  /** Seconds; null turns it off; absent shows it. */
  readonly seconds?: number | null;
}

export async function runThrottle(deps: Deps, { project, seconds, ...choice }: ThrottleOptions): Promise<ExitCode> {
  const change = seconds === undefined ? {} : { seconds };
  await showRecord(
    deps,
    THROTTLE,
    await withAdmin(deps, choice, (admin) => admin({ kind: "throttle", project, ...change })),
  );
  return EXIT.done;
}

/** Seconds of `90d`; null of `off`. Throws UsageError. */
function parseThrottle(text: string): number | null {
  if (text === "off") return null;
  const seconds = readDuration(text);
  if (seconds === null) throw badValue("<interval>", text, "a duration such as 90d or 12h, or off");
  return seconds;
}

export function registerThrottle(parent: Command, context: CommandContext): void {
  const verb = context.verb(parent, {
    name: "throttle",
    summary: "set or show the minimum time between two surveys to one person",
    operands: [["[interval]", "a duration such as 90d, or off; omit to show the current one"]],
    examples: ["surveyctl service throttle 90d --data survey.db", "surveyctl service throttle off --project acme"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: THROTTLE,
  });
  context.action(verb, (deps, flags, [interval]) =>
    runThrottle(deps, {
      ...readProject(flags),
      ...(interval === undefined ? {} : { seconds: parseThrottle(interval) }),
    }),
  );
}
