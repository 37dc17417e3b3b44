import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerAutopilot } from "./autopilot.ts";
import { registerBounce } from "./bounce.ts";
import { registerBrand } from "./brand.ts";
import { registerDelivery } from "./delivery/index.ts";
import { registerImport } from "./import.ts";
import { registerKey } from "./key.ts";
import { registerLink } from "./link.ts";
import { registerMigrate } from "./migrate.ts";
import { registerPause } from "./pause.ts";
import { registerErase } from "./privacy/erase.ts";
import { registerRetention } from "./privacy/retention.ts";
import { registerProject } from "./project.ts";
import { registerSettings } from "./settings.ts";
import { registerSurvey } from "./survey.ts";
import { registerThrottle } from "./throttle.ts";
import { registerTrend } from "./trend.ts";
import { registerWebhook } from "./webhook.ts";

export function register(noun: Command, context: CommandContext): void {
  registerProject(noun, context);
  registerKey(noun, context);
  registerThrottle(noun, context);
  registerAutopilot(noun, context);
  registerTrend(noun, context);
  registerSettings(noun, context);
  registerSurvey(noun, context);
  registerDelivery(noun, context);
  registerBounce(noun, context);
  registerMigrate(noun, context);
  registerPause(noun, context);
  registerLink(noun, context);
  registerBrand(noun, context);
  registerWebhook(noun, context);
  registerImport(noun, context);
  registerErase(noun, context);
  registerRetention(noun, context);
}
