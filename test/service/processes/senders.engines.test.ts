import { afterEach, expect, it } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { startPlanServer } from "../../helpers/smtp-plan-server.ts";
import { schedule } from "../delivery/once/mailing.ts";
import { type Fleet, newPlace, startFleet } from "./fleet.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

const SOON = { timeout: 40_000, interval: 200 };

interface Sender {
  readonly name: string;
  readonly process: string;
  readonly state: string;
  readonly code: number | null;
}

async function run(fleet: Fleet, command: string): Promise<Record<string, unknown>> {
  const args = [...command.split(" "), ...fleet.place.args, "--json"];
  const { stdout } = await runInside({ args, home: fleet.folder });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function breakersOf(url: string): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = /^surveyctl_delivery_breaker\{sender="smtp",process="([^"]+)"\} (\d)$/gm;
  return [...text.matchAll(line)].map(([, process = "", value = ""]) => `${process} ${value}`).toSorted();
}

it("when processes mail from the same data, then status and metrics show the sender of each, and one resume lets all go", async () => {
  const server = await startPlanServer();
  open.push(() => server.stop());
  server.faults.mailFrom = { code: 550, text: "5.7.1 Not you" };
  const args = ["--smtp", `smtp://127.0.0.1:${server.port}`, "--smtp-from", "us@example.com", "--local-links"];
  const place = await newPlace();
  const fleet = await startFleet(place, { count: 2, args });
  open.push(place.remove, fleet.stop);
  const senders = async (): Promise<readonly Sender[]> =>
    (await run(fleet, "service delivery status"))["senders"] as readonly Sender[];
  await expect
    .poll(async () => (await senders()).map(({ name, state }) => [name, state]), SOON)
    .toEqual([
      ["smtp", "ready"],
      ["smtp", "ready"],
    ]);
  const processes = (await senders()).map(({ process }) => process);
  const pids = fleet.members.map(({ running }) => String(running.child.pid));
  expect(new Set(processes.map((process) => process.split(":").at(-2)))).toEqual(new Set(pids));
  await fleet.withStore((store) =>
    schedule(
      store,
      Array.from({ length: 40 }, (_, at) => `ok+${at}@example.org`),
    ),
  );
  await expect
    .poll(async () => (await senders()).map(({ state, code }) => [state, code]), SOON)
    .toEqual([
      ["held", 550],
      ["held", 550],
    ]);
  for (const { url } of fleet.members)
    await expect.poll(() => breakersOf(url), SOON).toEqual(processes.map((process) => `${process} 1`).toSorted());
  delete server.faults.mailFrom;
  await run(fleet, "service delivery resume");
  await expect.poll(() => server.accepted.length, SOON).toBe(40);
  await expect.poll(async () => (await senders()).map(({ state }) => state), SOON).toEqual(["ready", "ready"]);
}, 180_000);
