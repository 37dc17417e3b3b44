import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Customer } from "./customers.ts";

const CONCURRENCY = 8;

/** Sends every customer a survey; resolves with how many were scheduled. */
export async function importCustomers(client: Client, customers: readonly Customer[], signal: AbortSignal): Promise<number> {
  const queue = customers.values();
  let scheduled = 0;
  const worker = async (): Promise<void> => {
    for (const customer of queue) {
      const result = await client.sendPerson(toBody(customer), { signal });
      if (result.kind === "answered" && result.reply.json["survey_scheduled_at"] !== null) scheduled += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return scheduled;
}

function toBody({ email, phoneNumber, name, properties }: Customer): JsonObject {
  return {
    ...(email === "" ? { channel: "sms" } : { email }),
    ...(phoneNumber === "" ? {} : { phone_number: phoneNumber }),
    ...(name === "" ? {} : { name }),
    properties,
  };
}
