import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { rejectRemoteFlags } from "../../command/data-place.ts";
import { registerApply } from "./apply/index.ts";
import { registerAutopilot } from "./project/autopilot.ts";
import { registerBackup } from "./data/backup.ts";
import { registerBounce } from "./delivery/bounce.ts";
import { registerBrand } from "./project/brand.ts";
import { registerClock } from "./data/clock.ts";
import { registerDelivery } from "./delivery/index.ts";
import { registerDigest } from "./delivery/digest.ts";
import { registerHealth } from "./data/health.ts";
import { registerImport } from "./data/import.ts";
import { registerKey } from "./project/key.ts";
import { registerLink } from "./project/link.ts";
import { registerMigrate } from "./data/migrate.ts";
import { registerMove } from "./data/move.ts";
import { registerPause } from "./delivery/pause.ts";
import { registerErase } from "./privacy/erase.ts";
import { registerRetention } from "./privacy/retention.ts";
import { registerQuestion } from "./project/question.ts";
import { registerProject } from "./project/project.ts";
import { registerSettings } from "./project/settings.ts";
import { registerShare } from "./project/share.ts";
import { registerSms } from "./delivery/sms.ts";
import { registerSurvey } from "./project/survey.ts";
import { registerRehearse } from "./data/rehearse.ts";
import { registerRestore } from "./data/restore.ts";
import { registerReminder } from "./project/reminder.ts";
import { registerTexts } from "./project/texts.ts";
import { registerThrottle } from "./project/throttle.ts";
import { registerTrend } from "./project/trend.ts";
import { registerVacuum } from "./data/vacuum.ts";
import { registerWebhook } from "./webhook.ts";

export function register(noun: Command, outer: CommandContext): void {
  const context: CommandContext = {
    ...outer,
    action: (command, work) =>
      outer.action(command, (deps, flags, operands) => {
        rejectRemoteFlags(deps, flags);
        return work(deps, flags, operands);
      }),
  };
  registerProject(noun, context);
  registerKey(noun, context);
  registerThrottle(noun, context);
  registerReminder(noun, context);
  registerAutopilot(noun, context);
  registerRehearse(noun, context);
  registerTrend(noun, context);
  registerQuestion(noun, context);
  registerSettings(noun, context);
  registerApply(noun, context);
  registerSurvey(noun, context);
  registerDelivery(noun, context);
  registerBounce(noun, context);
  registerMigrate(noun, context);
  registerSms(noun, context);
  registerPause(noun, context);
  registerLink(noun, context);
  registerShare(noun, context);
  registerBrand(noun, context);
  registerTexts(noun, context);
  registerWebhook(noun, context);
  registerDigest(noun, context);
  registerImport(noun, context);
  registerBackup(noun, context);
  registerRestore(noun, context);
  registerMove(noun, context);
  registerVacuum(noun, context);
  registerErase(noun, context);
  registerRetention(noun, context);
  registerHealth(noun, context);
  registerClock(noun, context);
}
