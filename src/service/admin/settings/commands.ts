/** The commands about a project's settings and trends, and their answers. */
import type { Locale } from "../../../contract/locales.ts";
import type { Platform } from "../../../contract/resources.ts";
import type { ReminderChannel } from "../../domain/delivery/reminders.ts";
import type {
  AppliedConfiguration,
  ProjectConfiguration,
  WantedConfiguration,
} from "../../domain/projects/configuration.ts";
import type { ConfiguredSettings } from "../../domain/projects/settings.ts";
import type { AutopilotChange, ShownAutopilot } from "../../domain/surveys/autopilot.ts";
import type { PreviewInfo } from "../digest/commands.ts";

export type SettingsCommand =
  /** Seconds; null for no throttling; absent leaves it as it is. */
  | { readonly kind: "throttle"; readonly project: string; readonly seconds?: number | null }
  /** Null for no reminders; absent leaves it as it is. */
  | {
      readonly kind: "reminder";
      readonly project: string;
      readonly after?: number | null;
      readonly channel?: ReminderChannel;
    }
  | {
      readonly kind: "autopilot";
      readonly project: string;
      readonly platform: Platform;
      readonly change: AutopilotChange;
    }
  /** Changes what is given, and shows all; an empty text takes a setting back. */
  | { readonly kind: "settings"; readonly project: string; readonly change: SettingsChange }
  | { readonly kind: "configuration"; readonly project: string }
  /**
   * Makes the settings as they are wanted, all or none. Nothing changes with `dryRun`, or if something would be removed
   * that `confirmed` doesn't name; null confirms everything.
   */
  | {
      readonly kind: "configure";
      readonly project: string;
      readonly wanted: WantedConfiguration;
      readonly dryRun: boolean;
      readonly confirmed: readonly string[] | null;
    }
  | {
      readonly kind: "survey.preview";
      readonly project: string;
      /** The person whose survey it is; null for anybody's. */
      readonly email: string | null;
      readonly locale: Locale | null;
    };

/** By the names of the result. */
export type SettingsChange = { readonly [Name in keyof ConfiguredSettings]?: string };

/** The changes of the settings that were made, or would be; none where one of them is refused. */
export interface ConfiguredInfo extends AppliedConfiguration {
  readonly isApplied: boolean;
  readonly refused: { readonly path: readonly string[]; readonly text: string } | null;
}

export interface SettingsResults {
  throttle: { readonly throttle: number | null };
  reminder: { readonly after_seconds: number | null; readonly channel: ReminderChannel };
  /** `tz` is the zone of the hours. */
  autopilot: ShownAutopilot & { readonly tz: string };
  settings: ConfiguredSettings;
  configuration: ProjectConfiguration;
  configure: ConfiguredInfo;
  "survey.preview": PreviewInfo;
}
