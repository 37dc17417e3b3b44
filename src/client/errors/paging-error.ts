import { ClientError, type CallName } from "./client-error.ts";

/** A list that cannot be walked: a link that leaves the service, a loop, the same page again and again. */
export class PagingError extends ClientError {
  override readonly name = "PagingError";

  constructor(what: string, facts: { readonly call: CallName }) {
    super(what, { code: "paging", ...facts });
  }
}
