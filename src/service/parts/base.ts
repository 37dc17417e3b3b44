/** What all parts share: the store, the options, and signals between parts. */
import { resolveFile } from "../../runtime/files/file-replacement.ts";
import { processName } from "../../runtime/files/processes.ts";
import { createSignal, type Signal } from "../../runtime/wake-loop.ts";
import { syncErasures } from "../data-file/erasure-file.ts";
import { openData } from "../data-file/open-data-file.ts";
import { createDeliveryMetrics, type DeliveryMetrics } from "../metrics/delivery-metrics.ts";
import { chooseSender, NO_SENDER, type SenderSettings } from "../delivery/message/sender.ts";
import type { MailContext } from "../delivery/message/survey-mail.ts";
import type { Project } from "../domain/inputs.ts";
import type { Store } from "../domain/ports.ts";
import { readPresentation } from "../domain/projects/presentation.ts";
import { createServiceAddress, type ServiceAddress } from "../service-address.ts";
import { createFailureLog, createNotices, logStoreEvent } from "../service-log.ts";
import { createServiceMetrics, type ServiceMetrics } from "../metrics/service-metrics.ts";
import type { ServiceOptions } from "../service-options.ts";
import { StoreFileError } from "../store/store-errors.ts";

interface Signals {
  /** Messages may be due. */
  readonly due: Signal;
  /** Webhook events may be due. */
  readonly events: Signal;
}

export interface Base extends Pick<ServiceOptions, "clock" | "random" | "log"> {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly isFile: boolean;
  /** Path of the data file, or name of the database. */
  readonly dataName: string;
  /** Identifies this process in claims. */
  readonly process: string;
  readonly address: ServiceAddress;
  /** Default sender. */
  readonly sender: SenderSettings;
  readonly signals: Signals;
  readonly metrics: ServiceMetrics;
  readonly deliveries: DeliveryMetrics;
  readonly failures: ReturnType<typeof createFailureLog>;
  readonly notices: ReturnType<typeof createNotices>;
  /** Sender and appearance of a project's mail. */
  readonly contextOf: (project: Project) => Promise<MailContext>;
  /** See `syncErasures`. */
  readonly keepErasures: () => Promise<void>;
}

/** Throws StoreFileError, StoreDatabaseError. */
export async function openBase(options: ServiceOptions): Promise<Base> {
  const { dataFile, database = null, clock, random, log, publicUrl, sender = NO_SENDER } = options;
  const signals = { due: createSignal(), events: createSignal() };
  const address = createServiceAddress(publicUrl);
  const metrics = createServiceMetrics(clock);
  const failures = createFailureLog(log);
  const notices = createNotices((event) => logStoreEvent(log, dataFile, event));
  const store = await openData({
    ...options,
    ...metrics.watch,
    appUrl: address.url,
    onWebhookEvent: signals.events.call,
    onEvent: (event) => {
      notices.add(event);
      if (event.kind === "recovered") signals.due.call();
    },
  });
  await address.recall(store);
  const isFile = database === null;
  const keepErasures = async (): Promise<void> => {
    if (isFile) await syncErasures(store, dataFile, random);
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
    clock,
    random,
    log,
    address,
    sender,
    signals,
    metrics,
    failures,
    notices,
    keepErasures,
    isFile,
    dataName: isFile ? resolveFile(dataFile) : dataFile,
    process: `${processName()}:${random.token(6)}`,
    deliveries: createDeliveryMetrics(),
    contextOf: (project) => readContext(store, project, sender, address.url()),
  };
}

async function readContext(
  store: Store,
  project: Project,
  sender: SenderSettings,
  appUrl: string,
): Promise<MailContext> {
  const presentation = await store.read((tx) => readPresentation(tx, project));
  const { settings, brand } = presentation;
  const own = { ...settings, senderName: settings.senderName ?? brand.name };
  return { appUrl, sender: chooseSender(own, sender, appUrl), presentation };
}
