/** What a server and a command on the same data have in common: the store, and the senders of messages. */
import { resolveFile } from "../runtime/files/file-replacement.ts";
import { processName } from "../runtime/files/processes.ts";
import type { WakeLoop } from "../runtime/wake-loop.ts";
import { syncErasures } from "./data-file/erasure-file.ts";
import { openData } from "./data-file/open-data-file.ts";
import { type MailContext, NO_SENDER, readMailContext, type SenderSettings } from "./delivery/message/sender.ts";
import { withSlackDigests } from "./digest/slack-digest.ts";
import type { Project } from "./domain/inputs.ts";
import type { Store } from "./domain/ports.ts";
import { createDeliveryMetrics, type DeliveryMetrics } from "./metrics/delivery-metrics.ts";
import { createServiceMetrics, type ServiceMetrics } from "./metrics/service-metrics.ts";
import { createSenders, outboxFolder, type Senders } from "./sending/senders.ts";
import { createServiceAddress, type ServiceAddress } from "./service-address.ts";
import { createFailureLog, createNotices, logStoreEvent } from "./service-log.ts";
import type { ServiceOptions } from "./service-options.ts";
import { StoreFileError } from "./store/store-errors.ts";

export interface Core {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly address: ServiceAddress;
  /** Default sender. */
  readonly sender: SenderSettings;
  /** Identifies this process in claims. */
  readonly process: string;
  readonly metrics: ServiceMetrics;
  readonly deliveries: DeliveryMetrics;
  readonly failures: ReturnType<typeof createFailureLog>;
  readonly notices: ReturnType<typeof createNotices>;
  /** What to wake when messages or events may be due; null while this process sends none. */
  readonly loops: { messages: Pick<WakeLoop, "wake"> | null; events: Pick<WakeLoop, "wake"> | null };
  /** Sender and appearance of a project's mail. */
  readonly contextOf: (project: Project) => Promise<MailContext>;
  /** See `syncErasures`. */
  readonly keepErasures: () => Promise<void>;
}

/** Throws StoreFileError, StoreDatabaseError. */
export async function openCore(options: ServiceOptions): Promise<Core> {
  const { dataFile, database = null, clock, random, log, publicUrl, sender = NO_SENDER } = options;
  const loops: Core["loops"] = { messages: null, events: null };
  const address = createServiceAddress(publicUrl);
  const metrics = createServiceMetrics(clock);
  const failures = createFailureLog(log);
  const notices = createNotices((event) => logStoreEvent(log, dataFile, event));
  const store = await openData({
    ...options,
    ...metrics.watch,
    appUrl: address.url,
    onWebhookEvent: () => loops.events?.wake(),
    onEvent: (event) => {
      notices.add(event);
      if (event.kind === "recovered") loops.messages?.wake();
    },
  });
  await address.recall(store);
  const keepErasures = async (): Promise<void> => {
    if (database === null) await syncErasures(store, dataFile, random);
  };
  // A log that can't be written now is retried later; one that can't be read might name people we would bring back.
  await keepErasures().catch(async (error: unknown) => {
    if (!(error instanceof StoreFileError)) return failures.add(error);
    await store.close();
    throw error;
  });
  return {
    options,
    store,
    address,
    sender,
    process: `${processName()}:${random.token(6)}`,
    metrics,
    deliveries: createDeliveryMetrics(),
    failures,
    notices,
    loops,
    contextOf: (project) => readMailContext(store, project, sender, address.url()),
    keepErasures,
  };
}

/** A command has senders to show and resume them. */
export function openSenders(core: Core): Promise<Senders> {
  const { options, store, address, sender, process, loops, contextOf, failures } = core;
  const { clock, random, log, mail = null, sms = null, dataFile, database = null } = options;
  return createSenders({
    store,
    clock,
    random,
    log,
    process,
    mail,
    sms,
    outbox: { folder: outboxFolder(options), dataFile: database === null ? resolveFile(dataFile) : dataFile },
    appUrl: address.url,
    senderName: sender.senderName,
    contextOf,
    makeDigest: async (due, context, key) =>
      (await import("./digest/digest-mail.ts")).makeDigest(store, due, context, key),
    withDigests: (one) => withSlackDigests({ store, clock, random, own: address.own, contextOf }, one),
    wake: (dueAt) => loops.messages?.wake(dueAt),
    onError: failures.add,
  });
}
