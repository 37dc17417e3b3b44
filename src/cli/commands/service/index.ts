import { rejectRemoteFlags } from "../../command/data-place.ts";
import type { Action, CommandNode } from "../../kit/command-node.ts";
import { commandsOf } from "../../kit/register-bridge.ts";
import { registerApply } from "./apply/index.ts";
import { registerAutopilot } from "./project/autopilot.ts";
import { backup } from "./data/backup.ts";
import { registerBounce } from "./delivery/bounce.ts";
import { registerBrand } from "./project/brand.ts";
import { registerClock } from "./data/clock.ts";
import { registerDelivery } from "./delivery/index.ts";
import { registerDigest } from "./delivery/digest.ts";
import { health } from "./data/health.ts";
import { importHistory } from "./data/import.ts";
import { registerKey } from "./project/key.ts";
import { registerLink } from "./project/link.ts";
import { migrate } from "./data/migrate.ts";
import { move } from "./data/move.ts";
import { registerPause } from "./delivery/pause.ts";
import { registerErase } from "./privacy/erase.ts";
import { registerRetention } from "./privacy/retention.ts";
import { registerQuestion } from "./project/question.ts";
import { registerProject } from "./project/project.ts";
import { registerSettings } from "./project/settings.ts";
import { share } from "./project/share.ts";
import { registerSms } from "./delivery/sms.ts";
import { registerSurvey } from "./project/survey.ts";
import { rehearse } from "./data/rehearse.ts";
import { restore } from "./data/restore.ts";
import { registerReminder } from "./project/reminder.ts";
import { registerTexts } from "./project/texts.ts";
import { registerThrottle } from "./project/throttle.ts";
import { trend } from "./project/trend.ts";
import { vacuum } from "./data/vacuum.ts";
import { registerWebhook } from "./webhook.ts";

export const commands: readonly CommandNode[] = [
  ...commandsOf(registerProject),
  ...commandsOf(registerKey),
  ...commandsOf(registerThrottle),
  ...commandsOf(registerReminder),
  ...commandsOf(registerAutopilot),
  rehearse,
  trend,
  ...commandsOf(registerQuestion),
  ...commandsOf(registerSettings),
  ...commandsOf(registerApply),
  ...commandsOf(registerSurvey),
  ...commandsOf(registerDelivery),
  ...commandsOf(registerBounce),
  migrate,
  ...commandsOf(registerSms),
  ...commandsOf(registerPause),
  ...commandsOf(registerLink),
  share,
  ...commandsOf(registerBrand),
  ...commandsOf(registerTexts),
  ...commandsOf(registerWebhook),
  ...commandsOf(registerDigest),
  importHistory,
  backup,
  restore,
  move,
  vacuum,
  ...commandsOf(registerErase),
  ...commandsOf(registerRetention),
  health,
  ...commandsOf(registerClock),
].map(onlyHere);

/** `command` without the flags that name a service elsewhere. */
function onlyHere({ action, ...command }: CommandNode): CommandNode {
  const refusing: CommandNode["action"] = async (deps, flags, words) => {
    rejectRemoteFlags(deps, flags);
    return (action as Action)(deps, flags, words);
  };
  return { ...command, action: action && refusing, commands: command.commands.map(onlyHere) };
}
