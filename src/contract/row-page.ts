import type { JsonObject } from "./json.ts";
import { splitRowTexts } from "./row-texts.ts";

/** Parsed rows and their JSON array. */
export interface RowPage {
  readonly rows: readonly JsonObject[];
  readonly text: string;
  /** The complete page's text if these are only some of its rows. */
  readonly source?: string;
}

/** Their text is built only if it is read. */
export function keepRows(page: RowPage, keep: (row: JsonObject, index: number) => boolean): RowPage {
  const kept = page.rows.map(keep);
  return kept.includes(false) ? new KeptRows(page, kept) : page;
}

/**
 * A class for its getter: a getter in an object literal would be a closure with a hidden class of its own, which keeps
 * the page alive until the next full collection.
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

  /** Not cached: few exports read it. */
  get text(): string {
    const texts = splitRowTexts(this.#page.text).filter((_, index) => this.#kept[index]);
    return `[${texts.join(",")}]`;
  }
}
