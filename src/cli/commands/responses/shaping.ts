import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { Expansion } from "../../../contract/routes.ts";
import { rowsWithMarks, unmarkLongNumbers } from "../../../contract/long-numbers.ts";
import type { RowPage } from "../../../contract/row-page.ts";
import type { PersonalKind } from "../../../insight/personal-data.ts";
import type { Masker, ToShown } from "../../../insight/redact.ts";
import { type Deps } from "../../kit/deps.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { writeNote } from "../../kit/notes.ts";
import type { ExportShaping } from "../../export/request.ts";
import { createPageFilter, type RowFilters } from "../shared/row-filters.ts";

export interface Shaping extends ExportShaping {
  /** Redaction needs the person, because their name may be in the comment. */
  readonly expand: string[] | null;
  readonly page: (page: RowPage) => RowPage;
}

/** If `toShown` is given, only the part of each row that it returns is redacted and counted. */
export async function createShaping(
  deps: Deps,
  { rows, redact }: { readonly rows: RowFilters; readonly redact: boolean },
  asked: readonly Expansion[] | null,
  toShown?: ToShown,
): Promise<Shaping> {
  const filterPage = createPageFilter(rows);
  const filter = filterPage ?? ((page: RowPage) => page);
  if (!redact)
    return {
      expand: asked === null ? null : [...asked],
      filterPage,
      rewrite: null,
      page: filter,
      writeNotes: async () => {},
    };
  const { createMasker } = await import("../../../insight/redact.ts");
  const masker = createMasker();
  const isExpanded = asked?.includes("person") ?? false;
  const shown = toShown ?? (isExpanded ? (row) => row : withoutPerson);
  const rewrite = (page: RowPage): RowPage => maskPage(masker, page, shown);
  return {
    expand: isExpanded ? [...(asked ?? [])] : [...(asked ?? ["notes"]), "person"],
    filterPage,
    rewrite,
    page: (page) => rewrite(filter(page)),
    writeNotes: () => writeNote(deps, describeMarks(masker)),
  };
}

function maskPage(masker: Masker, page: RowPage, toShown: ToShown): RowPage {
  const exact = rowsWithMarks(page);
  const rows = (exact ?? page.rows).map((row) => masker.row(row, toShown));
  const text = JSON.stringify(rows);
  if (exact === null) return { rows, text };
  const unmarked = unmarkLongNumbers(text);
  return { rows: JSON.parse(unmarked) as JsonObject[], text: unmarked };
}

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

function describeMarks(masker: Masker): string {
  const counts = [...masker.counts()].map(([kind, count]) => countOf(count, ...KIND_NAMES[kind]));
  return `redacted ${counts.length === 0 ? "nothing" : counts.join(", ")}; names of third parties stay`;
}
