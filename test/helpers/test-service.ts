/** A service whose sending can be finished, with the commands of `service` on the store that it has open. */
import type { Admin } from "../../src/service/operations/index.ts";
import { openParts, type Service } from "../../src/service/index.ts";
import { openAdmin } from "../../src/service/parts/admin.ts";
import { openBase } from "../../src/service/parts/base.ts";
import type { Sending } from "../../src/service/parts/sending.ts";
import type { ServiceOptions } from "../../src/service/service-options.ts";

export interface TestService extends Service {
  readonly admin: Admin;
  /** Ends the sending of messages once none is due any more. */
  readonly finishDue: Sending["finish"];
  readonly sweepMessages: Sending["sweep"];
}

export async function openTestService(options: ServiceOptions): Promise<TestService> {
  const base = await openBase(options);
  const { service, senders, sending } = await openParts(base);
  const run = openAdmin(base, senders, sending.sweep);
  // A server finds by polling what a command has changed; this one is told at once, by a clock set by hand too.
  const admin: Admin = async (command) => {
    const result = await run(command);
    base.signals.due.call();
    base.signals.events.call();
    return result;
  };
  return { ...service, admin, finishDue: sending.finish, sweepMessages: sending.sweep };
}
