import { isJsonObject, type Json, type JsonObject, parseJsonObject } from "../../contract/json.ts";
import { hashVersion, type Versions } from "../../bulk/export/versions.ts";
import { UsageError } from "../errors/usage-error.ts";

/** A state file can only be used again by an export that matches in all of these. */
export interface StateIdentity {
  readonly command: string;
  readonly base_url: string;
  /** A fingerprint of the key that doesn't reveal it. */
  readonly key: string;
  readonly filter: string;
  readonly format: string;
  readonly columns: string;
}

export interface ExportPosition {
  /** Everything up to this second (Unix time) has been written; null if nothing has. */
  readonly until: number | null;
  readonly file_bytes: number | null;
  readonly file_sha256: string | null;
  readonly versions: Versions;
}

export interface ExportState extends ExportPosition {
  readonly identity: StateIdentity;
  /**
   * The position that a previous run was about to save when it may have been killed. It counts only if the file's
   * length and digest match.
   */
  readonly pending: ExportPosition | null;
}

const FORMAT_VERSION = 2;
/** Rows can be stored late, so the next run reads the last 300 seconds again. */
export const OVERLAP_SECONDS = 300;

export function formatState({ identity, pending, ...position }: ExportState): string {
  const state = { identity, ...formatPosition(position), pending: pending === null ? null : formatPosition(pending) };
  return `${JSON.stringify({ surveyctl_export_state: FORMAT_VERSION, ...state })}\n`;
}

function formatPosition({ until, file_bytes, file_sha256, versions: { ats, marks } }: ExportPosition): JsonObject {
  return { until, file_bytes, file_sha256, versions: { ats: toBase64(ats), marks: toBase64(marks) } };
}

function toBase64({ buffer, byteOffset, byteLength }: Float64Array | BigUint64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

export function parseState(text: string, file: string): ExportState {
  const value = parseJsonObject(text);
  const format = value?.surveyctl_export_state;
  if (value === null || (format !== 1 && format !== FORMAT_VERSION))
    throw unusable(file, "is not the state of an export");
  const position = parsePosition(value);
  const pending = isJsonObject(value.pending) ? parsePosition(value.pending) : null;
  if (position === null || !isJsonObject(value.identity) || (pending === null && (value.pending ?? null) !== null))
    throw unusable(file, "is damaged");
  return { ...position, identity: value.identity as unknown as StateIdentity, pending };
}

/** Null if the position is damaged: continuing from it would lose rows. */
function parsePosition({
  until,
  file_bytes: bytes,
  file_sha256: digest = null,
  versions,
}: JsonObject): ExportPosition | null {
  const known = parseVersions(versions);
  const isSound =
    (until === null || Number.isSafeInteger(until)) &&
    (bytes === null || (Number.isSafeInteger(bytes) && Number(bytes) >= 0)) &&
    (digest === null || typeof digest === "string");
  if (!isSound || known === null) return null;
  return { until: until as number | null, file_bytes: bytes as number | null, file_sha256: digest, versions: known };
}

function parseVersions(value: Json | undefined): Versions | null {
  if (Array.isArray(value)) return value.every(isNamed) ? fromNames(value) : null;
  if (!isJsonObject(value) || typeof value.ats !== "string" || typeof value.marks !== "string") return null;
  const [ats, marks] = [Buffer.from(value.ats, "base64"), Buffer.from(value.marks, "base64")];
  if (ats.length !== marks.length || ats.length % 8 !== 0) return null;
  // Typed arrays need aligned memory, so the bytes are copied.
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

function fromNames(named: readonly NamedVersion[]): Versions {
  return {
    ats: Float64Array.from(named, ([, at]) => at),
    marks: BigUint64Array.from(named, ([id, at, content]) => hashVersion(id, at, content)),
  };
}

const MEANINGS: Readonly<Record<keyof StateIdentity, string>> = {
  command: "another command",
  base_url: "another account",
  key: "another account (the key is not the same)",
  filter: "other filters",
  format: "another format",
  columns: "other columns",
};

export function checkIdentity(state: ExportState, identity: StateIdentity, file: string): void {
  for (const name of Object.keys(MEANINGS) as (keyof StateIdentity)[]) {
    const [before, now] = [state.identity[name], identity[name]];
    if (before === now) continue;
    const difference = name === "key" ? "" : `: ${before || "none"} then, ${now || "none"} now`;
    throw unusable(file, `belongs to ${MEANINGS[name]}${difference}`);
  }
}

function unusable(file: string, why: string): UsageError {
  return new UsageError(`--state: ${file} ${why}`, {
    hint: `to export everything again, use another --state file or delete ${file}`,
  });
}
