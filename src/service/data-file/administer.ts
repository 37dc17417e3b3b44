import { unixSeconds } from "../../runtime/clock.ts";
import { silentLog } from "../../runtime/log.ts";
import { type Admin, createAdmin } from "../operations/index.ts";
import { previewMail } from "../delivery/message/survey-mail.ts";
import { postDigest } from "../digest/slack-digest.ts";
import type { Store } from "../domain/ports.ts";
import { isSlackTarget } from "../domain/webhooks/digest-targets.ts";
import { MessageSweep } from "../scheduler/message-sweep.ts";
import type { Senders } from "../sending/senders.ts";
import { type Core, openCore, openSenders } from "../core.ts";
import type { ServiceOptions } from "../service-options.ts";
import { sendTestEvent } from "../webhook/test-event.ts";
import type { DataFileOptions } from "./open-data-file.ts";

/** `sender` is the default for mail that the command sends. */
export type CommandOptions = DataFileOptions & Pick<ServiceOptions, "commandMail" | "sender">;

export function openForCommand(options: CommandOptions): Promise<Core> {
  return openCore({ ...options, log: silentLog, publicUrl: null, rateLimit: null, knowsOutbox: false });
}

export async function administer<Result>(
  options: CommandOptions,
  work: (admin: Admin, store: Store) => Promise<Result>,
): Promise<Result> {
  const core = await openForCommand(options);
  const { store } = core;
  try {
    const senders = await openSenders(core);
    const sweep = new MessageSweep(
      { store, clock: options.clock, files: senders.outbox, holdsAllFiles: false },
      () => false,
    );
    return await work(
      openAdmin(core, senders, () => sweep.run()),
      store,
    );
  } finally {
    await store.close();
  }
}

export function openAdmin(core: Core, senders: Senders, sweepMessages: () => Promise<number | null>): Admin {
  const { options, store, address, contextOf, keepErasures } = core;
  const { clock, random, commandMail } = options;
  const mailing = { store, clock, random, own: address.own, contextOf };
  return createAdmin({
    store,
    clock,
    random,
    senders: senders.all,
    appUrl: address.url,
    ownAddresses: address.own,
    onErased: keepErasures,
    renderPreview: async (survey) => previewMail(survey, await contextOf(survey.project), random, unixSeconds(clock)),
    renderDigest: async (due) =>
      (await import("../digest/digest-mail.ts")).previewDigest(store, due, await contextOf(due.project)),
    sendDigest: async (due) =>
      isSlackTarget(due.email)
        ? postDigest(mailing, due)
        : (await import("../digest/digest-test.ts")).mailDigest(mailing, commandMail ?? null, due),
    sendTest: (webhook, event) => sendTestEvent({ clock, own: address.own }, webhook, event),
    sweepMessages,
  });
}
