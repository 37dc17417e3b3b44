/** Counts how often a connection to a PostgreSQL server waits for an answer, whatever the machine's speed. */
import { Client } from "pg";

const trips = { count: 0 };
const awaited = new WeakMap<Client, number>();

type Query = (this: Client, ...args: unknown[]) => Promise<unknown> | undefined;
const clients = Client.prototype as unknown as { query: Query };
const { query } = clients;

// Statements that are sent while others are awaited share their trip.
clients.query = function (...args) {
  const open = awaited.get(this) ?? 0;
  if (open === 0) trips.count += 1;
  awaited.set(this, open + 1);
  const result = query.apply(this, args);
  const end = (): void => void awaited.set(this, (awaited.get(this) ?? 1) - 1);
  // The driver's own query, on a new connection, has a callback.
  result?.then(end, end);
  return result;
};

export async function countTrips(work: () => Promise<unknown>): Promise<number> {
  const before = trips.count;
  await work();
  return trips.count - before;
}
