/** Flags that `service` commands share. */
import type { Command } from "commander";
import type { Flags } from "../../args/flags.ts";
import type { DataFileChoice } from "./data-file.ts";

export interface ProjectChoice extends DataFileChoice {
  readonly project: string;
}

export function withDataFile(command: Command): Command {
  return command.option("--data <file>", "data file, served or not (env SURVEYCTL_DATA)");
}

export function withProject(command: Command): Command {
  return withDataFile(command).option("--project <name>", "project name", "default");
}

export function readProject(flags: Flags): ProjectChoice {
  return { data: flags.text("--data"), project: flags.text("--project") ?? "default" };
}
