import { afterEach, expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";
import { startListService, type ListService } from "../../../helpers/list-service.ts";
import { SAMPLE_UNSUBSCRIBES } from "../../../helpers/sample-rows.ts";

const state: { service?: ListService } = {};
afterEach(() => state.service?.stop());

it("when unsubscribes are listed as JSON, then each row is as the service sent it", async () => {
  state.service = await startListService({ lists: { unsubscribes: [...SAMPLE_UNSUBSCRIBES] } });
  const { env, requests } = state.service;
  const { status, stdout, stderr } = await runInProcess({ args: ["unsubscribes", "list", "--all", "--json"], env });
  expect([status, stderr, JSON.parse(stdout)]).toEqual([0, "", SAMPLE_UNSUBSCRIBES]);
  expect(requests[0]?.path).toBe("/v1/unsubscribes.json");
});

it("when a time is given, then it is sent as seconds", async () => {
  state.service = await startListService({ lists: { unsubscribes: [] } });
  const { env, requests } = state.service;
  const args = ["unsubscribes", "list", "--since", "2026-01-01", "--tz", "UTC", "--json"];
  expect(await runInProcess({ args, env })).toMatchObject({ status: 0, stdout: "[]\n" });
  expect(requests[0]?.query.get("since")).toBe("1767225600");
});
