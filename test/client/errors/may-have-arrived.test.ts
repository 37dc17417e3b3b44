import { expect, it } from "vitest";
import { ConnectionError } from "../../../src/client/errors/call-errors.ts";
import { effectOf } from "../../../src/client/errors/call-errors.ts";
import { RateLimitedError, RedirectError, RefusedError, ServiceError } from "../../../src/client/errors/call-errors.ts";
import { TimeoutError } from "../../../src/client/errors/call-errors.ts";

const call = { method: "POST", url: "http://h/v1/people.json" };

it.each([
  ["a connection that was never made", new ConnectionError("no", { call, sent: "no" }), "not-sent"],
  ["a connection that broke later", new ConnectionError("no", { call, sent: "maybe" }), "unknown"],
  ["no answer in time", new TimeoutError("no", { call, sent: "maybe" }), "unknown"],
  ["503", new ServiceError("no", { call, status: 503, details: null }), "unknown"],
  ["422", new RefusedError("no", { call, status: 422, details: null }), "refused"],
  ["429", new RateLimitedError("no", { call, status: 429, details: null, retryAfterMs: null }), "refused"],
  ["303", new RedirectError("no", { call, status: 303, details: null, location: "/" }), "unknown"],
  ["302", new RedirectError("no", { call, status: 302, details: null, location: "/" }), "refused"],
])("when a write ends with %s, then its effect is the documented one", (_, error, effect) => {
  expect(effectOf(error)).toBe(effect);
});
