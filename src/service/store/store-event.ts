import type { StoreFileError } from "./store-file-error.ts";

/** What those who run the service should hear of their data file. */
export type StoreEvent =
  | { readonly kind: "created" }
  /** Other users of the machine may read it. */
  | { readonly kind: "readable" }
  /** Its engine cannot keep other programs away from it. */
  | { readonly kind: "unlocked" }
  /** The clock is so many seconds behind the newest time in it. */
  | { readonly kind: "clock_behind"; readonly seconds: number }
  | { readonly kind: "trouble"; readonly error: StoreFileError }
  | { readonly kind: "recovered" };
