/** The name of a request in answers, logs and traces. */
import type { Random } from "../../../runtime/random.ts";

type Headers = Readonly<Record<string, string>>;

/** 12 random bytes. */
const REQUEST_ID_LENGTH = 16;
const IDS_AT_ONCE = 64;
/** An id that a caller or a proxy may give. */
const GIVEN_ID = /^[\w-]{1,64}$/;

/**
 * `idOf(headers)`: the `X-Request-Id` that came, if it is sane; else a random one, so that no project can count the
 * requests of others. Random ids are made many at once, which costs a tenth.
 */
export function createRequestIds(random: Random): (headers?: Headers) => string {
  const state = { ids: "", at: 0 };
  return (headers = {}) => {
    const given = headers["x-request-id"];
    if (given !== undefined && GIVEN_ID.test(given)) return given;
    if (state.at === state.ids.length)
      Object.assign(state, { ids: random.token((IDS_AT_ONCE * REQUEST_ID_LENGTH * 3) / 4), at: 0 });
    state.at += REQUEST_ID_LENGTH;
    return state.ids.slice(state.at - REQUEST_ID_LENGTH, state.at);
  };
}

/** W3C Trace Context: version, trace id, parent id, flags. Later versions may append to it. */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/** The trace id of a `traceparent` header, 32 hexadecimal digits; null for none, or for one that is not valid. */
export function traceIdOf({ traceparent }: Headers): string | null {
  return traceparent === undefined ? null : (TRACE_PARENT.exec(traceparent)?.[1] ?? null);
}
