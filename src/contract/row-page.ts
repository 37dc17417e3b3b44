import type { JsonObject } from "./json.ts";
import { splitRowTexts } from "./row-texts.ts";

export interface RowPage {
  readonly rows: readonly JsonObject[];
  readonly text: string;
  /** The text of the unfiltered page, if `rows` are only some of its rows. */
  readonly source?: string;
}

/** Pages are encoded as they arrive but written in order, so each one is encoded independently. */
export interface PageEncoder {
  readonly head: string;
  readonly between: string;
  readonly rows: (page: RowPage) => string;
  readonly tail: (rows: number) => string;
}

/** Builds the text of the kept rows only if it is used. */
export function keepRows(page: RowPage, keep: (row: JsonObject, index: number) => boolean): RowPage {
  const kept = page.rows.map(keep);
  return kept.includes(false) ? new FilteredPage(page, kept) : page;
}

/**
 * A class, because a getter in an object literal would be a closure with its own hidden class that keeps the page alive
 * until the next full collection.
 */
class FilteredPage implements RowPage {
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

  get text(): string {
    const texts = splitRowTexts(this.#page.text).filter((_, index) => this.#kept[index]);
    return `[${texts.join(",")}]`;
  }
}
