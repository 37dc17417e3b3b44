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
  /** The name in messages and in the request. */
  readonly name: string;
  readonly rule: FieldRule;
  /** Further headers that mean it. */
  readonly otherNames?: readonly string[];
}

export interface RowKind {
  /**
   * What makes a row the duplicate of another one: the same person by any identifier, the same identifier where only
   * the first is sent, or the same answer of a person.
   */
  readonly repeats: "person" | "identifier" | "answer";
  /** Each row may schedule a survey, by e-mail or as a text message. */
  readonly sendsSurveys: boolean;
  readonly fields: readonly FieldSpec[];
  /** Columns of an export that only the service sets, `name.…` of each too: ignored with one note. */
  readonly readOnly: readonly string[];
  /** The field of the request that takes every other column; null where there is none and they are ignored. */
  readonly properties: "properties" | "person_properties" | null;
  /** Rules for a row: which values require each other. `property` names one that the row has. Gives the problems. */
  readonly check: (values: RowValues, property: () => string | null) => readonly RowProblem[];
  /** A value of a valid row that is not saved; null for none. Absent: each is saved. */
  readonly findUnsaved?: (values: RowValues) => RowProblem | null;
}

export interface RowProblem {
  readonly column: string;
  readonly message: string;
}

/** The meaning of a field's cell. */
export type CellValue = string | number | boolean;

/** Parsed values by field name. */
export type RowValues = Readonly<Record<string, CellValue | undefined>>;

/** A row that passed every rule. */
export interface ImportRow {
  readonly line: number;
  /** The person in the results file: the e-mail, else the phone number, else the id. */
  readonly identifier: string;
  readonly values: RowValues;
  readonly properties: JsonObject;
}

/** A row that broke a rule; nobody is named by it. */
export interface InvalidRow {
  readonly line: number;
  readonly identifier: "";
  readonly problems: readonly RowProblem[];
}

/** The way of a valid row to its person. */
export type Way = "emails" | "texts" | "quiet";

/** A row with a number alone is mailed to the address that the service knows for it (4.2). */
export function wayOf({ send, channel }: RowValues): Way {
  if (send === false) return "quiet";
  return channel === "sms" ? "texts" : "emails";
}
