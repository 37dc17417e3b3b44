/** The fields that a row of each bulk command may hold, as data. */
import type { JsonObject } from "../../../contract/json.ts";

export type FieldRule =
  | "id"
  | "email"
  | "phone"
  | "text"
  | "comment"
  | "channel"
  | "delay"
  | "send"
  | "time"
  | "score"
  | "nps"
  | "answers";

export interface FieldSpec {
  readonly name: string;
  readonly rule: FieldRule;
  readonly otherNames?: readonly string[];
}

export interface RowKind {
  /**
   * What makes a row the duplicate of another one: the same person by any identifier, the same identifier where only
   * the first is sent, or the same answer of a person.
   */
  readonly repeats: "person" | "identifier" | "answer";
  readonly sendsSurveys: boolean;
  readonly fields: readonly FieldSpec[];
  /** Columns of an export that only the service sets, including `name.…` of each: ignored with a note. */
  readonly readOnly: readonly string[];
  /** The field of the request for all other columns; null ignores them. */
  readonly properties: "properties" | "person_properties" | null;
  /** Rules about several values of a row. `property` names a property that the row has. */
  readonly check: (values: RowValues, property: () => string | null) => readonly RowProblem[];
  readonly findUnsaved?: (values: RowValues) => RowProblem | null;
}

export interface RowProblem {
  readonly column: string;
  readonly message: string;
}

export type CellValue = string | number | boolean;

export type RowValues = Readonly<Record<string, CellValue | undefined>>;

export interface ImportRow {
  readonly line: number;
  /** The person in the results file: the e-mail, else the phone number, else the id. */
  readonly identifier: string;
  readonly values: RowValues;
  readonly properties: JsonObject;
}

export interface InvalidRow {
  readonly line: number;
  readonly identifier: "";
  readonly problems: readonly RowProblem[];
}

export const WAYS = ["emails", "texts", "quiet"] as const;
export type Way = (typeof WAYS)[number];

/** A row with a number alone is mailed to the address that the service knows for it (4.2). */
export function wayOf({ send, channel }: RowValues): Way {
  if (send === false) return "quiet";
  return channel === "sms" ? "texts" : "emails";
}
