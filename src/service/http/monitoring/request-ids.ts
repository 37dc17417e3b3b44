import type { Random } from "../../../runtime/random.ts";

type Headers = Readonly<Record<string, string>>;

const REQUEST_ID_LENGTH = 16;
/** Drawing ids in bulk costs a tenth of drawing them one by one. */
const IDS_AT_ONCE = 64;
const GIVEN_ID = /^[\w-]{1,64}$/;

export class RequestIds {
  readonly #random: Random;
  #ids = "";
  #at = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Random, because a counter would reveal how many requests others make. */
  next(headers: Headers = {}): string {
    const given = headers["x-request-id"];
    if (given !== undefined && GIVEN_ID.test(given)) return given;
    if (this.#at === this.#ids.length) {
      this.#ids = this.#random.token((IDS_AT_ONCE * REQUEST_ID_LENGTH * 3) / 4);
      this.#at = 0;
    }
    this.#at += REQUEST_ID_LENGTH;
    return this.#ids.slice(this.#at - REQUEST_ID_LENGTH, this.#at);
  }
}

/** W3C Trace Context: version, trace id, parent id, flags; later versions may append fields. */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

export function readTraceId({ traceparent }: Headers): string | null {
  return traceparent === undefined ? null : (TRACE_PARENT.exec(traceparent)?.[1] ?? null);
}
