import { expect, it, onTestFinished } from "vitest";
import { ServiceAddress } from "../../src/service/service-address.ts";
import { openFixture } from "./domain/fixture.ts";

it("a command next to a server knows both of the server's addresses", async () => {
  const { store } = await openFixture();
  onTestFinished(() => store.close());
  const server = new ServiceAddress("https://survey.example.com");
  await server.listen(store, "http://127.0.0.1:9090");
  const command = new ServiceAddress(null);
  await command.recall(store);
  expect(command.url).toBe("https://survey.example.com");
  expect(command.own).toEqual(server.own);
  await server.listen(store, "http://127.0.0.1:9091");
  await command.recall(store);
  expect(command.own).toEqual(["https://survey.example.com", "http://127.0.0.1:9091"]);
});
