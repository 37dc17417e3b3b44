/** What an incremental export remembers between two runs. */
import { isJsonObject } from "../../contract/json.ts";
import type { Version } from "./versions.ts";

/** What has to be the same in every run that goes on from one state; each value in words or as JSON. */
export interface StateIdentity {
  readonly command: string;
  readonly base_url: string;
  /** Tells keys apart and gives none away. */
  readonly key: string;
  /** Filters as the user wrote them. */
  readonly filter: string;
  readonly format: string;
  readonly columns: string;
}

export interface ExportState {
  readonly identity: StateIdentity;
  /** Everything up to this second, Unix, is written; null when nothing is yet. */
  readonly until: number | null;
  /** How long the file was that `--append` adds to; null without it. */
  readonly file_bytes: number | null;
  readonly versions: readonly Version[];
}

/** The state cannot be used for this run. `message` gives the reason; nothing was sent. */
export class StateRefusedError extends Error {
  override readonly name = "StateRefusedError";
}

const FORMAT_VERSION = 1;
/** Rows may be stored a while after the time that they bear: so far back the next run asks again. */
export const OVERLAP_SECONDS = 300;

/** One line of JSON, which `parseState` reads. */
export function formatState(state: ExportState): string {
  return `${JSON.stringify({ surveyctl_export_state: FORMAT_VERSION, ...state })}\n`;
}

/** Throws `StateRefusedError` when the text is no state of an export. */
export function parseState(text: string, file: string): ExportState {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Said below, with what else is no state.
  }
  if (!isJsonObject(value) || value.surveyctl_export_state !== FORMAT_VERSION || value.until === undefined)
    throw new StateRefusedError(`${file} is not the state of an export`);
  return value as unknown as ExportState;
}

const MEANINGS: Readonly<Record<keyof StateIdentity, string>> = {
  command: "another command",
  base_url: "another account",
  key: "another account (the key is not the same)",
  filter: "other filters",
  format: "another format",
  columns: "other columns",
};

/** Throws `StateRefusedError` with the first difference. */
export function checkIdentity(state: ExportState, identity: StateIdentity, file: string): void {
  for (const name of Object.keys(MEANINGS) as (keyof StateIdentity)[]) {
    const [before, now] = [state.identity[name], identity[name]];
    if (before === now) continue;
    const difference = name === "key" ? "" : `: ${before || "none"} then, ${now || "none"} now`;
    throw new StateRefusedError(`${file} belongs to ${MEANINGS[name]}${difference}`);
  }
}
