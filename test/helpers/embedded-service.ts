/** The service inside the test's own process: no port, no program; a data file of its own in a temporary folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "../../src/client/create-client.ts";
import type { Client } from "../../src/client/client.ts";
import { systemClock, type Clock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { ensureFirstKey } from "../../src/service/first-project.ts";
import { openService, type Service } from "../../src/service/index.ts";

export interface EmbeddedService {
  readonly service: Service;
  /** The two ends of the wire meet without a socket. */
  readonly client: Client;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly folder: string;
  close(): Promise<void>;
}

export async function openEmbeddedService({
  clock = systemClock,
}: { readonly clock?: Clock } = {}): Promise<EmbeddedService> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-embedded-"));
  const [apiKey, baseUrl] = ["key-of-the-embedded-service", "http://embedded.test"];
  const service = await openService({
    dataFile: path.join(folder, "survey.db"),
    clock,
    random: systemRandom,
    log: silentLog,
    publicUrl: null,
    rateLimit: null,
  });
  await ensureFirstKey(service.store, systemRandom, apiKey);
  const close = async (): Promise<void> => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
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
