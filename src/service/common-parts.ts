import { resolveFile } from "../runtime/files/file-replacement.ts";
import { processName } from "../runtime/files/processes.ts";
import type { WakeLoop } from "../runtime/wake-loop.ts";
import { syncErasures } from "./data-file/erasure-file.ts";
import { openData } from "./data-file/open-data-file.ts";
import { type MailContext, NO_SENDER, readMailContext } from "./delivery/message/sender.ts";
import { withSlackDigests } from "./digest/slack-digest.ts";
import type { Project } from "./domain/inputs.ts";
import type { Store } from "./domain/ports.ts";
import { DeliveryMetrics } from "./metrics/delivery-metrics.ts";
import { ServiceMetrics } from "./metrics/service-metrics.ts";
import { createSenders, outboxFolder, type Senders } from "./sending/senders.ts";
import { ServiceAddress } from "./service-address.ts";
import { FailureLog, Notices } from "./service-log.ts";
import type { ServiceOptions } from "./service-options.ts";
import { StoreFileError } from "./store/store-errors.ts";

export interface CommonParts {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly address: ServiceAddress;
  readonly process: string;
  readonly metrics: ServiceMetrics;
  readonly deliveries: DeliveryMetrics;
  readonly failures: FailureLog;
  readonly notices: Notices;
  /** What to wake when messages or events may be due; null while this process doesn't send them. */
  readonly loops: { messages: Pick<WakeLoop, "wake"> | null; events: Pick<WakeLoop, "wake"> | null };
  readonly readContext: (project: Project) => Promise<MailContext>;
  readonly keepErasures: () => Promise<void>;
}

export async function openCommonParts(options: ServiceOptions): Promise<CommonParts> {
  const { dataFile, database = null, clock, random, log, publicUrl, sender = NO_SENDER } = options;
  const loops: CommonParts["loops"] = { messages: null, events: null };
  const address = new ServiceAddress(publicUrl);
  const metrics = new ServiceMetrics(clock);
  const failures = new FailureLog(log);
  const notices = new Notices(log, dataFile);
  const store = await openData({
    ...options,
    ...metrics.watch,
    appUrl: () => address.url,
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
  // If the erasure log can't be written, that is retried later. If it can't be read, this fails, because erased people
  // could come back.
  await keepErasures().catch(async (error: unknown) => {
    if (!(error instanceof StoreFileError)) return failures.add(error);
    await store.close();
    throw error;
  });
  return {
    options,
    store,
    address,
    process: `${processName()}:${random.token(6)}`,
    metrics,
    deliveries: new DeliveryMetrics(),
    failures,
    notices,
    loops,
    readContext: (project) => readMailContext(store, project, sender, address.url),
    keepErasures,
  };
}

/** Commands also create senders, to show and resume them. */
export function openSenders(parts: CommonParts): Promise<Senders> {
  const { options, store, address, process, loops, readContext, failures } = parts;
  const { clock, random, mail = null, sms = null, sender = NO_SENDER, dataFile, database = null } = options;
  return createSenders({
    ...options,
    store,
    process,
    mail,
    sms,
    outbox: { folder: outboxFolder(options), dataFile: database === null ? resolveFile(dataFile) : dataFile },
    appUrl: () => address.url,
    senderName: sender.senderName,
    readContext,
    makeDigest: async (due, context, key) =>
      (await import("./digest/digest-mail.ts")).makeDigest(store, due, context, key),
    withDigests: (one) => withSlackDigests({ store, clock, random, own: () => address.own, readContext }, one),
    wake: (dueAt) => loops.messages?.wake(dueAt),
    onError: failures.add,
  });
}
