/** `--redact`: personal data in comments becomes marks, page by page. */
import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import type { Expansion } from "../../../../contract/routes.ts";
import { markLongNumbers, mayHoldLongNumbers, unmarkLongNumbers } from "../../../../contract/long-numbers.ts";
import type { RowPage } from "../../../../contract/row-page.ts";
import type { PersonalKind } from "../../../../insight/personal-data.ts";
import { createMasker, type Masker, type ToShown } from "../../../../insight/redact.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, writeNote } from "../../../command/notes.ts";

export const REDACT_FLAG: FlagRecord = {
  flag: "--redact",
  text: "replace personal data with marks such as [email-1]; names of third parties stay",
};

export interface Redaction {
  /** The expansions that it needs: only an expanded person shows which words are their name. */
  readonly expand: readonly Expansion[];
  readonly page: (page: RowPage) => RowPage;
  readonly writeNotes: () => Promise<void>;
}

/**
 * `asked` is what the rows would have come with; null is what the service sends by itself. `toShown` is what the
 * command shows of a row: nothing else is numbered or counted.
 */
export function createRedaction(deps: Deps, asked: readonly Expansion[] | null, toShown?: ToShown): Redaction {
  const masker = createMasker();
  const isExpanded = asked?.includes("person") ?? false;
  return {
    expand: isExpanded ? (asked ?? []) : [...(asked ?? ["notes"]), "person"],
    page: (page) => maskPage(masker, page, toShown ?? (isExpanded ? (row) => row : withoutPerson)),
    writeNotes: () => writeNote(deps, describeMarks(masker)),
  };
}

function maskPage(masker: Masker, page: RowPage, toShown: ToShown): RowPage {
  const exact = mayHoldLongNumbers(page.text) ? markLongNumbers(page.text) : null;
  const source = exact === null ? page.rows : (JSON.parse(exact) as JsonObject[]);
  const rows = source.map((row) => masker.row(row, toShown));
  const text = JSON.stringify(rows);
  if (exact === null) return { rows, text };
  const unmarked = unmarkLongNumbers(text);
  return { rows: JSON.parse(unmarked) as JsonObject[], text: unmarked };
}

/** The row as it comes without `expand[]=person`. */
function withoutPerson(row: JsonObject): JsonObject {
  return isJsonObject(row["person"]) ? { ...row, person: row["person"]["id"] ?? null } : row;
}

const KIND_NAMES: Readonly<Record<PersonalKind, readonly [one: string, many: string]>> = {
  email: ["email", "emails"],
  phone: ["phone number", "phone numbers"],
  url: ["URL", "URLs"],
  iban: ["IBAN", "IBANs"],
  card: ["card number", "card numbers"],
  ssn: ["social security number", "social security numbers"],
  ip: ["IP address", "IP addresses"],
  name: ["name", "names"],
  address: ["address", "addresses"],
};

/** `redacted 12 emails, 3 names; names of third parties stay`. */
function describeMarks(masker: Masker): string {
  const counts = [...masker.counts()].map(([kind, count]) => countOf(count, ...KIND_NAMES[kind]));
  return `redacted ${counts.length === 0 ? "nothing" : counts.join(", ")}; names of third parties stay`;
}
