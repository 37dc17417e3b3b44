/** The memory of an incremental export between two runs. */
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from "../../contract/json.ts";
import { markVersion, type Versions } from "./versions.ts";

/** Facts that must be the same in every run that continues from one state; each value as text or as JSON. */
export interface StateIdentity {
  readonly command: string;
  readonly base_url: string;
  /** Distinguishes keys without revealing them. */
  readonly key: string;
  /** Filters as the user wrote them. */
  readonly filter: string;
  readonly format: string;
  readonly columns: string;
}

/** The end of a run, and the file at that time. */
export interface Reach {
  /** Everything up to this second, Unix, is written; null when nothing is yet. */
  readonly until: number | null;
  /** The length of the file that rows are added to; null when each run replaces it. */
  readonly file_bytes: number | null;
  /** SHA-256 of those bytes in hex; null when unknown. */
  readonly file_sha256: string | null;
  readonly versions: Versions;
}

export interface ExportState extends Reach {
  readonly identity: StateIdentity;
  /** The end that a run was about to write: true once the file has that length and digest. */
  readonly pending: Reach | null;
}

/** The state cannot be used for this run. `message` gives the reason; nothing was sent. */
export class StateRefusedError extends Error {
  override readonly name = "StateRefusedError";
}

const FORMAT_VERSION = 2;
/** Rows may be stored a while after their own time: the next run asks for that many seconds again. */
export const OVERLAP_SECONDS = 300;

/** One line of JSON, which `parseState` reads. */
export function formatState({ identity, pending, ...reach }: ExportState): string {
  const state = { identity, ...formatReach(reach), pending: pending === null ? null : formatReach(pending) };
  return `${JSON.stringify({ surveyctl_export_state: FORMAT_VERSION, ...state })}\n`;
}

function formatReach({ until, file_bytes, file_sha256, versions: { ats, marks } }: Reach): JsonObject {
  return { until, file_bytes, file_sha256, versions: { ats: toBase64(ats), marks: toBase64(marks) } };
}

function toBase64({ buffer, byteOffset, byteLength }: Float64Array | BigUint64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** Throws `StateRefusedError` when the text is not the state of an export. */
export function parseState(text: string, file: string): ExportState {
  const value = parseJsonObject(text);
  const format = value?.surveyctl_export_state;
  if (value === null || (format !== 1 && format !== FORMAT_VERSION))
    throw new StateRefusedError(`${file} is not the state of an export`);
  const reach = parseReach(value);
  const pending = isJsonObject(value.pending) ? parseReach(value.pending) : null;
  if (reach === null || !isJsonObject(value.identity) || (pending === null && (value.pending ?? null) !== null))
    throw new StateRefusedError(`${file} is damaged`);
  return { ...reach, identity: value.identity as unknown as StateIdentity, pending };
}

/** Null when it is damaged: continuing from it would lose rows, or bytes of a file. */
function parseReach({ until, file_bytes: bytes, file_sha256: digest = null, versions }: JsonObject): Reach | null {
  const known = parseVersions(versions);
  const isSound =
    (until === null || Number.isSafeInteger(until)) &&
    (bytes === null || isCount(bytes)) &&
    (digest === null || typeof digest === "string");
  if (!isSound || known === null) return null;
  return { until: until as number | null, file_bytes: bytes as number | null, file_sha256: digest, versions: known };
}

function parseVersions(value: Json | undefined): Versions | null {
  if (Array.isArray(value)) return value.every(isNamed) ? fromNames(value) : null;
  if (!isJsonObject(value) || typeof value.ats !== "string" || typeof value.marks !== "string") return null;
  const [ats, marks] = [Buffer.from(value.ats, "base64"), Buffer.from(value.marks, "base64")];
  if (ats.length !== marks.length || ats.length % 8 !== 0) return null;
  // Copied, since a buffer may begin anywhere in its memory.
  return {
    ats: new Float64Array(Uint8Array.from(ats).buffer),
    marks: new BigUint64Array(Uint8Array.from(marks).buffer),
  };
}

type NamedVersion = [id: string, at: number, content: string];

function isNamed(value: Json): value is NamedVersion {
  if (!Array.isArray(value)) return false;
  const [id, at, content] = value;
  return typeof id === "string" && typeof at === "number" && typeof content === "string";
}

/** Versions of the first format. */
function fromNames(named: readonly NamedVersion[]): Versions {
  return {
    ats: Float64Array.from(named, ([, at]) => at),
    marks: BigUint64Array.from(named, ([id, at, content]) => markVersion(id, at, content)),
  };
}

function isCount(value: Json | undefined): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
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
