/**
 * A separate program, because Node reads NODE_EXTRA_CA_CERTS only at startup. Prints the result of one call as JSON.
 */
import { createClient } from "../../../src/client/create-client.ts";
import { undiciTransport } from "../../../src/client/transport/undici-transport.ts";
import { systemClock } from "../../../src/runtime/clock.ts";

const [, , baseUrl = ""] = process.argv;
const transport = undiciTransport({ baseUrl, env: process.env });
const client = createClient({ baseUrl, apiKey: "key", transport, clock: systemClock, policy: { retries: 0 } });
try {
  console.log(JSON.stringify((await client.getMetrics({})).json));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }));
}
await client.close();
