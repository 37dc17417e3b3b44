/** A service in the test's own process with a data file in a temporary folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "../../src/client/create-client.ts";
import type { Client } from "../../src/client/client.ts";
import { systemClock, type Clock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { ensureFirstKey } from "../../src/service/first-project.ts";
import { NO_SENDER } from "../../src/service/delivery/message/sender.ts";
import { parseSmtpUrl } from "../../src/service/delivery/smtp/smtp-url.ts";
import { openTestService, type TestService } from "./test-service.ts";
import type { MailOptions } from "../../src/service/sending/mail.ts";
import type { SmsOptions } from "../../src/service/sending/sms.ts";
import { databaseOf } from "./postgres.ts";

export interface EmbeddedService {
  readonly service: TestService;
  readonly client: Client;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly folder: string;
  close(): Promise<void>;
}

/** Reopening the same `folder` simulates a restart. */
export async function openEmbeddedService({
  clock = systemClock,
  smtp,
  sms = null,
  folder: given,
  publicUrl = null,
}: {
  readonly clock?: Clock;
  readonly publicUrl?: string | null;
  readonly smtp?: Partial<MailOptions> & { readonly port: number };
  readonly sms?: SmsOptions | null;
  readonly folder?: string;
} = {}): Promise<EmbeddedService> {
  const folder = given ?? (await mkdtemp(path.join(tmpdir(), "surveyctl-embedded-")));
  const [apiKey, baseUrl] = ["key-of-the-embedded-service", "http://embedded.test"];
  const database = await databaseOf(given ?? null);
  const service = await openTestService({
    dataFile: path.join(folder, "survey.db"),
    ...(database === null ? {} : { database: { url: database.url, mayMigrate: true, time: "clock" } }),
    clock,
    random: systemRandom,
    log: silentLog,
    publicUrl,
    rateLimit: null,
    sms,
    ...(smtp !== undefined && {
      mail: mailOptions(smtp),
      sender: { ...NO_SENDER, from: "us@example.com" },
    }),
  });
  await ensureFirstKey(service.store, systemRandom, apiKey);
  const close = async (): Promise<void> => {
    await service.close();
    database?.giveBack();
    if (given === undefined) await rm(folder, { recursive: true, force: true });
  };
  return {
    service,
    client: createClient({ baseUrl, apiKey, transport: service.handle, clock }),
    apiKey,
    baseUrl,
    folder,
    close,
  };
}

export function mailOptions({ port, ...more }: Partial<MailOptions> & { readonly port: number }): MailOptions {
  return {
    server: parseSmtpUrl(`smtp://127.0.0.1:${port}`),
    certificates: null,
    rate: { count: 100_000, perSeconds: 1 },
    connections: 4,
    dkim: null,
    onlyTo: null,
    ...more,
  };
}
