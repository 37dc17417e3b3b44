/**
 * A pooler in transaction mode, like pgbouncer before 1.21: transactions go to server connections in turn, and named
 * statements stay on the connection that prepared them.
 */
import { connect, createServer, type Socket } from "node:net";
import { listening } from "./misbehaving-server.ts";
import type { Cluster } from "./postgres.ts";

export interface TransactionPooler {
  readonly url: string;
  readonly changes: () => number;
  readonly stop: () => Promise<void>;
}

const SERVERS = 3;
const AUTHENTICATION_OK = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const [SYNC, SIMPLE_QUERY, READY_FOR_QUERY, IDLE, TERMINATE] = ["S", "Q", "Z", "I", "X"].map((one) =>
  one.charCodeAt(0),
);

interface ServerConnection {
  readonly socket: Socket;
  client: PooledClient | null;
}

interface PooledClient {
  readonly socket: Socket;
  readonly waiting: Buffer[];
  server: ServerConnection | null;
  last: ServerConnection | null;
  pending: number;
}

export async function startTransactionPooler(cluster: Cluster, database: string): Promise<TransactionPooler> {
  const state = { changes: 0, turn: 0 };
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => connectServer(cluster, database)));
  const clients = new Set<PooledClient>();

  const bind = (client: PooledClient): void => {
    const free = servers.filter((server) => server.client === null);
    const server = free[(state.turn += 1) % free.length];
    if (server === undefined) return;
    if (client.last !== null && client.last !== server) state.changes += 1;
    Object.assign(client, { server, last: server });
    server.client = client;
    for (const message of client.waiting.splice(0)) forward(client, message);
  };
  const forward = (client: PooledClient, message: Buffer): void => {
    if (message[0] === SYNC || message[0] === SIMPLE_QUERY) client.pending += 1;
    client.server?.socket.write(message);
  };
  const release = (server: ServerConnection): void => {
    if (server.client !== null) server.client.server = null;
    server.client = null;
    const next = [...clients].find(({ waiting }) => waiting.length > 0);
    if (next !== undefined) bind(next);
  };
  for (const server of servers)
    readMessages(server.socket, (message) => {
      const { client } = server;
      if (client === null) return;
      client.socket.write(message);
      if (message[0] !== READY_FOR_QUERY) return;
      client.pending -= 1;
      if (client.pending === 0 && message[5] === IDLE) release(server);
    });

  const listener = createServer({ noDelay: true }, (socket) => {
    const client: PooledClient = { socket, waiting: [], server: null, last: null, pending: 0 };
    clients.add(client);
    socket.on("error", () => socket.destroy()).on("close", () => clients.delete(client));
    // The startup message has no type byte.
    socket.once("data", () => {
      socket.write(Buffer.concat([AUTHENTICATION_OK, READY]));
      readMessages(socket, (message) => {
        if (message[0] === TERMINATE) return;
        if (client.server !== null) return forward(client, message);
        client.waiting.push(message);
        bind(client);
      });
    });
  });
  const port = await listening(listener);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/${database}`,
    changes: () => state.changes,
    stop: async () => {
      for (const { socket } of [...clients, ...servers]) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

async function connectServer(cluster: Cluster, database: string): Promise<ServerConnection> {
  const socket = connect(`${cluster.folder}/.s.PGSQL.${cluster.port}`);
  const body = Buffer.from(`\0\x03\0\0user\0postgres\0database\0${database}\0\0`, "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  socket.on("error", () => socket.destroy());
  socket.write(Buffer.concat([length, body]));
  const { promise, resolve } = resolvable();
  const onData = (data: Buffer): void => {
    if (data.subarray(-READY.length).equals(READY)) resolve();
  };
  socket.on("data", onData);
  await promise;
  socket.off("data", onData);
  return { socket, client: null };
}

function resolvable(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const made = { resolve: (): void => undefined };
  const promise = new Promise<void>((resolve) => {
    made.resolve = resolve;
  });
  return { promise, resolve: () => made.resolve() };
}

/** A message is a type byte, a length that includes itself, and the content. */
function readMessages(socket: Socket, onMessage: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1;
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}
