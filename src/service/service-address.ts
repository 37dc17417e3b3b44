import type { AddressKind } from "./domain/link-rows.ts";
import type { Store } from "./domain/ports.ts";

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 8080;
/** Default of `serve`, also used for links in messages made without a server. */
export const DEFAULT_ADDRESS = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;

export interface ServiceAddress {
  readonly url: () => string;
  /** All addresses of this server. */
  readonly own: () => string[];
  /** For commands: takes the address stored by the newest server. */
  readonly recall: (store: Store) => Promise<void>;
  readonly listen: (store: Store, url: string) => Promise<void>;
}

/** `publicUrl` takes precedence over the listening address. */
export function createServiceAddress(publicUrl: string | null): ServiceAddress {
  const state = { url: publicUrl ?? DEFAULT_ADDRESS, listening: null as string | null };
  return {
    url: () => state.url,
    own: () => [state.url, ...(state.listening === null ? [] : [state.listening])],
    recall: async (store) => {
      if (publicUrl !== null) return;
      await store.read(async ({ links }) => {
        state.url = (await links.address("address")) ?? state.url;
        state.listening = await links.address("listening");
      });
    },
    listen: async (store, url) => {
      state.url = publicUrl ?? url;
      state.listening = url;
      await keep(store, "address", state.url);
      await keep(store, "listening", url);
    },
  };
}

async function keep(store: Store, kind: AddressKind, url: string): Promise<void> {
  if ((await store.read((tx) => tx.links.address(kind))) === url) return;
  await store.write((tx) => tx.links.setAddress(kind, url), { project: "none" });
}
