import type { Client } from "../../client/client.ts";
import type { Connection, Deps } from "./deps.ts";

/** Connects, works, and closes the connection whatever happens. */
export async function withClient<Result>(
  deps: Deps,
  work: (client: Client, connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await deps.connect();
  try {
    return await work(connection.client, connection);
  } finally {
    await connection.close();
  }
}
