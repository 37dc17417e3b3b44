/** Administration of a data file or a database, whether it is served or not. */
import { silentLog } from "../../runtime/log.ts";
import type { Admin } from "../control/commands.ts";
import { openService, type Service } from "../index.ts";
import type { DataFileOptions } from "./open-data-file.ts";

/** The service for one command: it serves nothing and delivers nothing by itself. Throws StoreFileError. */
export function openForCommand(options: DataFileOptions): Promise<Service> {
  return openService({ ...options, log: silentLog, publicUrl: null, rateLimit: null, knowsOutbox: false });
}

/** Gives `work` the commands of the data file and frees it again. */
export async function administer<Result>(
  options: DataFileOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const service = await openForCommand(options);
  try {
    return await work(service.admin);
  } finally {
    await service.close();
  }
}
