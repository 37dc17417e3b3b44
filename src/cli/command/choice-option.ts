import { Option } from "commander";

/**
 * A flag of a closed list: help, `help --json` and completion read the list from here. The value itself is read by
 * `parseChoice`, whose message is better than commander's.
 */
export function choiceOption(flags: string, description: string, choices: readonly string[], initial?: string): Option {
  const option = new Option(flags, description);
  option.argChoices = [...choices];
  return initial === undefined ? option : option.default(initial);
}

/** The same for a flag that may be repeated, or given several with commas. */
export function choicesOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = choiceOption(flags, description, choices).default([]);
  return option.argParser((value: string, before: readonly string[]) => [...before, value]);
}
