import type { JsonObject } from "../../../contract/json.ts";
import type { CellValue, FieldRule } from "./rules.ts";

export interface FieldSpec {
  readonly name: string;
  readonly rule: FieldRule;
  readonly otherNames?: readonly string[];
}

export interface RowKind {
  /** What makes two rows duplicates. `identifier` compares only the first identifier, because only that one is sent. */
  readonly repeats: "person" | "identifier" | "answer";
  readonly sendsSurveys: boolean;
  readonly fields: readonly FieldSpec[];
  /** Columns that only the service can set; `name` also stands for `name.…`. */
  readonly readOnly: readonly string[];
  readonly properties: "properties" | "person_properties" | null;
  /** `property` returns the name of one of the row's properties, or null if it has none. */
  readonly check: (values: RowValues, property: () => string | null) => readonly RowProblem[];
  readonly findUnsaved?: (values: RowValues) => RowProblem | null;
}

export interface RowProblem {
  readonly column: string;
  readonly message: string;
}

export type RowValues = Readonly<Record<string, CellValue | undefined>>;

export interface ImportRow {
  readonly line: number;
  /** The email, else the phone number, else the id. */
  readonly identifier: string;
  readonly values: RowValues;
  readonly properties: JsonObject;
}

export interface InvalidRow {
  readonly line: number;
  readonly identifier: "";
  readonly problems: readonly RowProblem[];
}

export const SEND_MODES = ["emails", "texts", "quiet"] as const;
export type SendMode = (typeof SEND_MODES)[number];

/** A row with only a phone number is surveyed by email if the service knows that person's address (4.2). */
export function sendMode({ send, channel }: RowValues): SendMode {
  if (send === false) return "quiet";
  return channel === "sms" ? "texts" : "emails";
}
