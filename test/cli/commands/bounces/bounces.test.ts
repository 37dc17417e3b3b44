import { afterEach, expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";
import { startListService, type ListService } from "../../../helpers/list-service.ts";
import { SAMPLE_BOUNCES } from "../../../helpers/sample-rows.ts";

const state: { service?: ListService } = {};
afterEach(() => state.service?.stop());

it("when bounces are listed as JSON, then each row is as the service sent it", async () => {
  state.service = await startListService({ lists: { bounces: [...SAMPLE_BOUNCES] } });
  const { env, requests } = state.service;
  const { status, stdout, stderr } = await runInProcess({ args: ["bounces", "list", "--all", "--json"], env });
  expect([status, stderr, JSON.parse(stdout)]).toEqual([0, "", SAMPLE_BOUNCES]);
  expect(requests[0]?.path).toBe("/v1/bounces.json");
});

it("when a time is given, then it is sent as seconds", async () => {
  state.service = await startListService({ lists: { bounces: [] } });
  const { env, requests } = state.service;
  const args = ["bounces", "list", "--since", "2026-01-01", "--tz", "UTC", "--json"];
  expect(await runInProcess({ args, env })).toMatchObject({ status: 0, stdout: "[]\n" });
  expect(requests[0]?.query.get("since")).toBe("1767225600");
});
