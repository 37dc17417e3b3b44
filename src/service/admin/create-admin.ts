/** The commands on an open store. */
import type { Clock } from "../../runtime/clock.ts";
import { wordsOfRefusal } from "../../runtime/files/system-words.ts";
import { DomainError } from "../domain/errors.ts";
import { importHistory } from "../domain/history/import-responses.ts";
import { callOperation, isOperation } from "../operations/index.ts";
import type { OperationTools } from "../operations/operation.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { Store } from "../domain/ports.ts";
import { readLead, takeClockBack } from "../domain/write-time.ts";
import { type BounceAdminOptions, createBounceHandlers } from "./bounce/handlers.ts";
import {
  AdminError,
  type Admin,
  type AdminKind,
  type AdminResults,
  type CommandOf,
  type Handlers,
} from "./commands.ts";
import { createListHandlers } from "./delivery/list.ts";
import { createDeliveryHandlers } from "./delivery/handlers.ts";
import { writeInProject } from "./in-project.ts";
import { createDigestHandlers, type DigestAdminOptions } from "./digest/handlers.ts";
import { createQuestionHandlers } from "./question/handlers.ts";
import { createPageHandlers } from "./page/handlers.ts";
import { createPrivacyHandlers, type PrivacyAdminOptions } from "./privacy/handlers.ts";
import { createProjectHandlers, type ProjectAdminOptions } from "./project/handlers.ts";
import { createConfigurationHandlers, createSettingsHandlers, type SettingsAdminOptions } from "./settings/handlers.ts";
import { createWebhookHandlers, type WebhookAdminOptions } from "./webhook/handlers.ts";

export interface AdminOptions
  extends
    OperationTools,
    WebhookAdminOptions,
    PrivacyAdminOptions,
    ProjectAdminOptions,
    SettingsAdminOptions,
    BounceAdminOptions,
    DigestAdminOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The senders of messages, one for each channel. */
  readonly senders: readonly MessageSender[];
}

/** Throws AdminError for what the rules refuse, in their words. */
export function createAdmin(options: AdminOptions): Admin {
  const handlers = createHandlers(options);
  return async <Kind extends AdminKind>(command: CommandOf<Kind>): Promise<AdminResults[Kind]> => {
    try {
      const others = handlers as Readonly<Record<string, (command: object) => Promise<unknown>>>;
      const done = isOperation(command) ? callOperation(options, command) : others[command.kind]?.(command);
      return (await done) as AdminResults[Kind];
    } catch (error) {
      throw error instanceof DomainError ? new AdminError(error.message, { cause: error }) : error;
    }
  };
}

function createHandlers(options: AdminOptions): Handlers {
  const { store } = options;
  return {
    ...createProjectHandlers(options),
    ...createSettingsHandlers(options),
    ...createConfigurationHandlers(options),
    ...createDigestHandlers(options),
    ...createDeliveryHandlers(options),
    ...createListHandlers(store),
    ...createPageHandlers(options),
    ...createQuestionHandlers(options),
    ...createBounceHandlers(options),
    ...createWebhookHandlers(options),
    ...createPrivacyHandlers(options),
    "history.add": ({ project, batch, onConflict, webhooks }) =>
      writeInProject(store, project, (tx, found) => importHistory(tx, found, batch, { policy: onConflict, webhooks })),
    backup: async ({ file }) => {
      try {
        return await store.backup(file);
      } catch (error) {
        return { problem: wordsOfRefusal(error) };
      }
    },
    clock: async ({ reset }) => {
      if (reset && (await store.read(readLead)) > 0) await store.write(takeClockBack, { isLong: true });
      return store.read(async (tx) => ({
        clock: tx.now,
        newest_write: await tx.clock.newestWriteAt(),
        behind: await readLead(tx),
      }));
    },
    vacuum: async () => {
      const { bytesBefore, bytesAfter } = await store.vacuum();
      return { bytes_before: bytesBefore, bytes: bytesAfter };
    },
  };
}
