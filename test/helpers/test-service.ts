/** A service whose sending can be finished, with the commands of `service` on the store that it has open. */
import type { Admin } from "../../src/service/operations/index.ts";
import { openCommonParts, openSenders } from "../../src/service/common-parts.ts";
import { Service } from "../../src/service/service.ts";
import { createAdmin } from "../../src/service/operations/index.ts";
import { openTools } from "../../src/service/operation-tools.ts";
import type { Scheduler } from "../../src/service/sending/scheduler.ts";
import type { ServiceOptions } from "../../src/service/service-options.ts";

export interface TestService extends Service {
  readonly admin: Admin;
  /** Ends the sending of messages once none is due any more. */
  readonly finishDue: Scheduler["finish"];
  readonly sweepMessages: Scheduler["sweep"];
}

export async function openTestService(options: ServiceOptions): Promise<TestService> {
  const parts = await openCommonParts(options);
  const senders = await openSenders(parts);
  const service = new Service(parts, senders);
  const { sending } = service;
  const tools = openTools(parts, senders, () => sending.sweep());
  const run = createAdmin({ ...tools, actor: { key: null, name: "test" } });
  // A server finds by polling what a command has changed; this one is told at once, by a clock set by hand too.
  const admin: Admin = async (command) => {
    const result = await run(command);
    parts.loops.messages?.wake();
    parts.loops.events?.wake();
    return result;
  };
  return Object.assign(service, { admin, finishDue: () => sending.finish(), sweepMessages: () => sending.sweep() });
}
