import * as v from "valibot";
import type { Json } from "../../contract/json.ts";
import type { Actor, LogLine } from "../domain/ports.ts";
import { moment, PAGE } from "./define/fields.ts";
import { defineOperation, orNull } from "./define/operation.ts";

const COMMAND_LINE = "command line";

export const logOperations = {
  /** Newest first. */
  log: defineOperation({
    access: "read",
    input: {
      since: orNull(moment),
      /** A key's name or id, or `command line`. */
      by: orNull(v.string()),
      operation: orNull(v.string()),
      ...PAGE,
    },
    run: async (tx, project, { since, by, operation, after, limit }) => {
      const filter = { since: since?.(tx.now) ?? null, by: toActor(by), operation, before: after };
      const lines = await tx.operationLog.list(project.id, { ...filter, limit: limit + 1 });
      const rows = lines.slice(0, limit);
      return { rows: rows.map(toLine), next: lines.length > limit ? String(rows.at(-1)?.id) : null };
    },
  }),
};

function toActor(by: string | null): Partial<Actor> | typeof COMMAND_LINE | null {
  if (by === null || by === COMMAND_LINE) return by;
  return /^\d+$/.test(by) ? { key: Number(by) } : { name: by };
}

function toLine({ at, project, operation, key, name, what, result }: LogLine) {
  const by = key === null ? `${COMMAND_LINE} (${name})` : `key ${key}${name === null ? "" : ` (${name})`}`;
  return { time: at, project, operation, by, what, result: result === null ? null : (JSON.parse(result) as Json) };
}
