import type { JsonObject } from "../../../contract/json.ts";
import type { CellValue, FieldRule } from "./rules.ts";

export interface FieldSpec {
  readonly name: string;
  readonly rule: FieldRule;
  readonly otherNames?: readonly string[];
}

export interface RowKind {
  /**
   * What makes two rows duplicates: the same person by any identifier, the same first identifier (if only that is
   * sent), or the same answer.
   */
  readonly repeats: "person" | "identifier" | "answer";
  readonly sendsSurveys: boolean;
  readonly fields: readonly FieldSpec[];
  /** Columns that only the service sets, including `name.…`: ignored with a note. */
  readonly readOnly: readonly string[];
  readonly properties: "properties" | "person_properties" | null;
  /** Rules that involve several values. `property` returns the name of a property that the row has. */
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
  /** Names the person in the results file: email, else phone number, else id. */
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

/** A row with only a number is mailed to the address that the service knows (4.2). */
export function sendMode({ send, channel }: RowValues): SendMode {
  if (send === false) return "quiet";
  return channel === "sms" ? "texts" : "emails";
}
