/** Replays a published client library's recorded requests against a service on real sockets. */
import { afterEach, beforeEach } from "vitest";
import type { Listening } from "../../../src/service/http/server.ts";
import { listenTo, openHttp, parseRaw, rawRequest, sendRaw, type Answer, type HttpFixture } from "./fixture.ts";

export interface Wire {
  send(line: string, body?: string, more?: readonly string[]): Promise<Answer>;
  readonly fixture: () => HttpFixture;
  readonly url: () => string;
}

export function useWire(headers: readonly string[]): Wire {
  const state: { fixture?: HttpFixture; listening?: Listening } = {};
  beforeEach(async () => {
    state.fixture = await openHttp();
    state.listening = await listenTo(state.fixture);
  });
  afterEach(async () => {
    await state.listening?.close();
    await state.fixture?.store.close();
  });
  const url = (): string => state.listening?.url ?? "";
  return {
    url,
    fixture: () => {
      if (state.fixture === undefined) throw new Error("no service");
      return state.fixture;
    },
    send: async (line, body, more = []) =>
      parseRaw(await sendRaw(url(), rawRequest(url(), line, [...headers, ...more], body))),
  };
}
