import type { Store } from "./domain/ports.ts";
import { keepMark } from "./store/sql/store-marks.ts";

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 8080;
/** Default address of `serve`, also used for links in messages composed without a server. */
export const DEFAULT_ADDRESS = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

/** The base of links in messages: the public URL, or the listening address. */
export class ServiceAddress {
  readonly #publicUrl: string | null;
  #url: string;
  #listening: string | null = null;

  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl;
    this.#url = publicUrl ?? DEFAULT_ADDRESS;
  }

  get url(): string {
    return this.#url;
  }

  get own(): string[] {
    return [this.#url, ...(this.#listening === null ? [] : [this.#listening])];
  }

  /** Used by commands: adopts the address stored by the most recent server. */
  async recall(store: Store): Promise<void> {
    if (this.#publicUrl !== null) return;
    await store.read(async ({ tables }) => {
      this.#url = (await tables.mark("address")) ?? this.#url;
      this.#listening = await tables.mark("listening");
    });
  }

  async listen(store: Store, url: string): Promise<void> {
    this.#url = this.#publicUrl ?? url;
    this.#listening = url;
    await keepMark(store, "address", this.#url);
    await keepMark(store, "listening", url);
  }
}
