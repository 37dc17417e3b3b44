/** Rows of a list with the text they came in, and some of them. */
import type { JsonObject } from "./json.ts";
import { splitRowTexts } from "./row-texts.ts";

/** Rows parsed, and the JSON array that they came in. */
export interface RowPage {
  readonly rows: readonly JsonObject[];
  readonly text: string;
  /** The text of the complete page, where these are some of its rows and `text` has to be made. */
  readonly source?: string;
}

/** The rows of a page that `keep` wants; their own texts are cut out when they are asked for. */
export function keepRows(page: RowPage, keep: (row: JsonObject, index: number) => boolean): RowPage {
  const kept = page.rows.map(keep);
  return kept.includes(false) ? new KeptRows(page, kept) : page;
}

/**
 * A class for its getter: one in an object literal would be a closure of its own in a hidden class of its own, and
 * those live, with the page that they hold, until the next full garbage collection.
 */
class KeptRows implements RowPage {
  readonly rows: readonly JsonObject[];
  readonly source: string;
  readonly #page: RowPage;
  readonly #kept: readonly boolean[];

  constructor(page: RowPage, kept: readonly boolean[]) {
    this.rows = page.rows.filter((_, index) => kept[index]);
    this.source = page.source ?? page.text;
    this.#page = page;
    this.#kept = kept;
  }

  /** Made anew each time, a twelfth of an export if it were asked for on every page. */
  get text(): string {
    const texts = splitRowTexts(this.#page.text).filter((_, index) => this.#kept[index]);
    return `[${texts.join(",")}]`;
  }
}
