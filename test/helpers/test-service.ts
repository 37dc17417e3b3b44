/** A service whose sending can be waited for, with the `service` commands on its open store. */
import type { Admin } from "../../src/service/operations/index.ts";
import { openCommonParts, openSenders } from "../../src/service/common-parts.ts";
import { Service } from "../../src/service/service.ts";
import { createAdmin } from "../../src/service/operations/index.ts";
import { openTools } from "../../src/service/operation-tools.ts";
import type { Scheduler } from "../../src/service/sending/scheduler.ts";
import type { ServiceOptions } from "../../src/service/service-options.ts";

export interface TestService extends Service {
  readonly admin: Admin;
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
  // A real server polls for changes made by commands; with a manual clock it never would.
  const admin: Admin = async (command) => {
    const result = await run(command);
    parts.loops.messages?.wake();
    parts.loops.events?.wake();
    return result;
  };
  return Object.assign(service, { admin, finishDue: () => sending.finish(), sweepMessages: () => sending.sweep() });
}
