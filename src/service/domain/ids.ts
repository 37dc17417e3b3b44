import { InvalidError } from "./errors.ts";
import type { JsonRows, Position } from "./ports.ts";

const ID = /^[1-9]\d{0,15}$/;

export function parseId(text: string): number | null {
  if (!ID.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}

export interface JsonPage {
  readonly rows: JsonRows;
  readonly next: string | null;
}

function formatCursor(position: Position): string {
  return Buffer.from(`${position.createdAt}:${position.id}`, "latin1").toString("base64url");
}

/** Throws an InvalidError about `page_info`. */
export function parseCursor(text: string | null): Position | null {
  if (text === null) return null;
  const match = /^(-?\d{1,15}):(\d{1,15})$/.exec(Buffer.from(text, "base64url").toString("latin1"));
  const position = { createdAt: Number(match?.[1]), id: Number(match?.[2]) };
  if (match === null || formatCursor(position) !== text) throw new InvalidError({ page_info: ["is invalid"] });
  return position;
}

/** `rows` has one row more than `perPage` if there is another page. */
export function toPage(rows: JsonRows, perPage: number, positionOf: (row: string) => Position): JsonPage {
  const last = rows[perPage - 1];
  if (rows.length <= perPage || last === undefined) return { rows, next: null };
  return { rows: rows.slice(0, perPage), next: formatCursor(positionOf(last)) };
}
