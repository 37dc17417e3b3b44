import { readPlace, rejectRemoteFlags } from "../../kit/data/data-place.ts";
import type { Action, CommandNode } from "../../kit/command-node.ts";
import { project } from "./project/project.ts";
import { key } from "./project/key.ts";
import { throttle } from "./project/throttle.ts";
import { reminder } from "./project/reminder.ts";
import { autopilot } from "./project/autopilot.ts";
import { rehearse } from "./data/rehearse.ts";
import { trend } from "./project/trend.ts";
import { question } from "./project/question.ts";
import { settings } from "./project/settings.ts";
import { apply } from "./apply/index.ts";
import { survey } from "./project/survey.ts";
import { delivery } from "./delivery/index.ts";
import { bounce } from "./delivery/bounce.ts";
import { migrate } from "./data/migrate.ts";
import { sms } from "./delivery/sms.ts";
import { pause, resume } from "./delivery/pause.ts";
import { link } from "./project/link.ts";
import { share } from "./project/share.ts";
import { brand } from "./project/brand.ts";
import { texts } from "./project/texts.ts";
import { webhook } from "./webhook.ts";
import { digest } from "./delivery/digest.ts";
import { importHistory } from "./data/import.ts";
import { backup } from "./data/backup.ts";
import { restore } from "./data/restore.ts";
import { move } from "./data/move.ts";
import { vacuum } from "./data/vacuum.ts";
import { erase } from "./privacy/erase.ts";
import { retention } from "./privacy/retention.ts";
import { health } from "./data/health.ts";
import { clock } from "./data/clock.ts";
import { log } from "./log.ts";

export const about = [
  "Commands act on the data file or database named by --data, --database, SURVEYCTL_DATA or SURVEYCTL_DATABASE. " +
    "Without one, those about a project call the service of --profile or of the default profile, whose key must be " +
    "one from `service key add --admin`. --profile local acts on your own data file.",
];

export const commands: readonly CommandNode[] = [
  project,
  key,
  throttle,
  reminder,
  autopilot,
  rehearse,
  trend,
  question,
  settings,
  apply,
  survey,
  delivery,
  bounce,
  migrate,
  sms,
  pause,
  resume,
  link,
  share,
  brand,
  texts,
  webhook,
  digest,
  importHistory,
  backup,
  restore,
  move,
  vacuum,
  erase,
  retention,
  health,
  clock,
  log,
].map(keepLocal);

/** Makes commands that run the server or call no operation reject flags that name a remote service. */
function keepLocal({ action, ...command }: CommandNode): CommandNode {
  const refusing: CommandNode["action"] = async (deps, flags, words) => {
    // `health` checks a server given with `--url`.
    rejectRemoteFlags(deps, { data: readPlace(flags) ?? flags.text("--url") });
    return (action as Action)(deps, flags, words);
  };
  const isLocal = action !== null && command.operation === null;
  return { ...command, action: isLocal ? refusing : action, commands: command.commands.map(keepLocal) };
}
