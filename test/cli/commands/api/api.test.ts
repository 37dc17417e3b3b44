import { afterEach, beforeEach, expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";
import { startListService, type ListService } from "../../../helpers/list-service.ts";
import { SAMPLE_PEOPLE } from "../../../helpers/sample-rows.ts";

let service: ListService;
beforeEach(async () => {
  service = await startListService({ lists: { people: [...SAMPLE_PEOPLE] } });
});
afterEach(() => service.stop());

it("when a path is all that is given, then its body is printed", async () => {
  const { status, stdout } = await runInProcess({ args: ["api", "/v1/people.json"], env: service.env });
  expect([status, JSON.parse(stdout)]).toEqual([0, SAMPLE_PEOPLE]);
});

it("when fields come with a read, then they are its query", async () => {
  const args = ["api", "/v1/people.json", "-f", "email=person1@example.com"];
  expect((await runInProcess({ args, env: service.env })).status).toBe(0);
  expect(service.requests.map(({ method, query }) => [method, query.get("email")])).toEqual([
    ["GET", "person1@example.com"],
  ]);
});
