/** What an incremental export remembers between two runs. */
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
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
  /** SHA-256 of those bytes in hex; null when unknown. */
  readonly file_sha256: string | null;
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
  if (!isJsonObject(value) || value.surveyctl_export_state !== FORMAT_VERSION)
    throw new StateRefusedError(`${file} is not the state of an export`);
  if (!isSound(value)) throw new StateRefusedError(`${file} is damaged`);
  return { file_sha256: null, ...value } as unknown as ExportState;
}

/** Whoever goes on from what a damaged state says loses rows, or bytes of a file. */
function isSound({ identity, until, file_bytes: bytes, file_sha256: digest, versions }: JsonObject): boolean {
  return (
    isJsonObject(identity) &&
    (until === null || Number.isSafeInteger(until)) &&
    (bytes === null || isCount(bytes)) &&
    (digest === undefined || digest === null || typeof digest === "string") &&
    Array.isArray(versions) &&
    versions.every(isVersion)
  );
}

function isCount(value: Json | undefined): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isVersion(value: Json): boolean {
  if (!Array.isArray(value)) return false;
  const [id, at, mark] = value;
  return typeof id === "string" && typeof at === "number" && typeof mark === "string";
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
