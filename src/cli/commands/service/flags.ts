/** Flags that `service` commands share. */
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import type { DataFileChoice } from "./data-file.ts";

export interface ProjectChoice extends DataFileChoice {
  readonly project: string;
}

export const DATA_FLAG: FlagRecord = {
  flag: "--data",
  value: "file",
  text: "data file, served or not",
  environment: "SURVEYCTL_DATA",
};

const PROJECT_DEFAULT = "default";

export const PROJECT_FLAGS: readonly FlagRecord[] = [
  DATA_FLAG,
  { flag: "--project", value: "name", text: "project name", default: PROJECT_DEFAULT },
];

export function readProject(flags: Flags): ProjectChoice {
  return { data: flags.text("--data"), project: flags.text("--project") ?? PROJECT_DEFAULT };
}
