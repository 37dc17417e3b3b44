/** A proxy between a service and PostgreSQL that can break connections. */
import { connect, createServer, type Socket } from "node:net";
import { listening } from "./misbehaving-server.ts";
import type { Cluster } from "./postgres.ts";

export interface DatabaseProxy {
  readonly url: (database: string) => string;
  readonly cuts: () => number;
  /** Forwards the next `count` COMMITs, but drops the responses. */
  cutCommits(count: number): void;
  /** Drops the next COMMIT. */
  keepCommit(): void;
  /** While true, nothing is forwarded, but connections stay open. */
  setSilent(isSilent: boolean): void;
  /** Closes open connections and sends new ones to this cluster. */
  leadTo(cluster: Pick<Cluster, "folder" | "port">): void;
  readonly stop: () => Promise<void>;
}

const COMMIT = "COMMIT\0";

export async function startDatabaseProxy(first: Pick<Cluster, "folder" | "port">): Promise<DatabaseProxy> {
  const state = { target: first, armed: 0, isKeeping: false, isSilent: false, cuts: 0 };
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const { folder, port } = state.target;
    const upstream = connect(`${folder}/.s.PGSQL.${port}`);
    const pair = [client, upstream];
    let isCommitting = false;
    for (const socket of pair) {
      sockets.add(socket);
      const end = (): void => pair.forEach((one) => one.destroy());
      socket.on("error", end).on("close", () => (sockets.delete(socket), end()));
    }
    client.on("data", (chunk) => {
      if (state.isSilent) return;
      // Clients wait for the reply to a transaction, so COMMIT arrives in its own chunk.
      if (state.isKeeping && chunk.includes(COMMIT)) {
        state.isKeeping = false;
        state.cuts += 1;
        return;
      }
      if (state.armed > 0 && chunk.includes(COMMIT)) {
        state.armed -= 1;
        isCommitting = true;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (state.isSilent) return;
      if (!isCommitting) client.write(chunk);
      else if (chunk.includes("COMMIT")) {
        state.cuts += 1;
        client.destroy();
      }
    });
  });
  const port = await listening(server);
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    cuts: () => state.cuts,
    cutCommits: (count) => {
      state.armed = count;
    },
    keepCommit: () => {
      state.isKeeping = true;
    },
    setSilent: (isSilent) => {
      state.isSilent = isSilent;
    },
    leadTo: (cluster) => {
      state.target = cluster;
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
