import { Client } from "pg";

const trips = { count: 0 };
const awaited = new WeakMap<Client, number>();

type Query = (this: Client, ...args: unknown[]) => Promise<unknown> | undefined;
const clients = Client.prototype as unknown as { query: Query };
const { query } = clients;

// Pipelined statements share a round trip.
clients.query = function (...args) {
  const open = awaited.get(this) ?? 0;
  if (open === 0) trips.count += 1;
  awaited.set(this, open + 1);
  const result = query.apply(this, args);
  const end = (): void => void awaited.set(this, (awaited.get(this) ?? 1) - 1);
  // The driver's own first query uses a callback.
  result?.then(end, end);
  return result;
};

export async function countTrips(work: () => Promise<unknown>): Promise<number> {
  const before = trips.count;
  await work();
  return trips.count - before;
}
