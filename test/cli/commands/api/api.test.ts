import { afterEach, beforeEach, expect, it } from "vitest";
import { toOpenApi } from "../../../../src/contract/openapi.ts";
import { describeOperations } from "../../../../src/service/operations/index.ts";
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

it("when the OpenAPI document is wanted, then it is printed without a call", async () => {
  const version = (await runInProcess({ args: ["--version"] })).stdout.trim();
  const printed = await runInProcess({ args: ["api", "--openapi", "--base-url", "https://surveys.example/v1"] });
  expect([printed.status, JSON.parse(printed.stdout), printed.stderr]).toEqual([
    0,
    toOpenApi({ version, serverUrl: "https://surveys.example", operations: describeOperations() }),
    "",
  ]);
  const both = await runInProcess({ args: ["api", "--openapi", "/v1/people.json"] });
  expect([both.status, both.stderr]).toEqual([2, expect.stringContaining("--openapi takes no method and no path")]);
});
