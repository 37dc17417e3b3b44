import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../src/runtime/on-abort.ts";

test("when a signal is aborted, then all who still wait are called in their order, once", () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push("first"));
  const stop = onAbort(controller.signal, () => called.push("second"));
  onAbort(controller.signal, () => called.push("third"));
  stop();
  stop();

  controller.abort();
  controller.abort();

  expect(called).toEqual(["first", "third"]);
});

test("when one who is called takes another back, then that one is not called", () => {
  const controller = new AbortController();
  const called: string[] = [];
  const stops: (() => void)[] = [];
  onAbort(controller.signal, () => {
    called.push("first");
    for (const stop of stops) stop();
  });
  stops.push(onAbort(controller.signal, () => called.push("second")));

  controller.abort();

  expect(called).toEqual(["first"]);
});

test("when many wait for one signal, then it has one listener", () => {
  const { signal } = new AbortController();
  for (let count = 0; count < 20; count += 1) onAbort(signal, () => undefined);

  expect(getEventListeners(signal, "abort")).toHaveLength(1);
});

test("when there is no signal, then nothing waits", () => {
  expect(onAbort(undefined, () => undefined)()).toBeUndefined();
});
