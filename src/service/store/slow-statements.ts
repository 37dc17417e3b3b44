/** Counts statements and reports slow ones by name, because they can be long and their values are personal data. */
import type { Clock } from "../../runtime/clock.ts";
import type { StoreWatch } from "../domain/ports.ts";

export interface StatementWatch extends Pick<StoreWatch, "onStatement"> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly onSlow: (name: string, seconds: number) => void;
}

const SLOW_MS = 1000;

export function noteStatement({ clock, onSlow, onStatement }: StatementWatch, startedMs: number, sql: string): void {
  onStatement?.();
  const ms = clock.monotonic() - startedMs;
  if (ms > SLOW_MS) onSlow(statementName(sql), ms / 1000);
}

/** Verb, first table and checksum, such as `select people 3f2a91c0`; the same in every run. */
export function statementName(sql: string): string {
  const verb = /\w+/.exec(sql)?.[0].toLowerCase() ?? "empty";
  const table = /\b(?:from|into|update|table)\s+(\w+)/i.exec(sql)?.[1];
  return [verb, ...(table === undefined ? [] : [table]), checksum(sql.replaceAll(/\s+/g, " ").trim())].join(" ");
}

function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
