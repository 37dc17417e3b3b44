/** Stands between a service and its PostgreSQL and breaks what passes, when a test says so. */
import { connect, createServer, type Socket } from "node:net";
import { listening } from "./misbehaving-server.ts";
import type { Cluster } from "./postgres.ts";

export interface DatabaseProxy {
  /** Of a database behind it, as `user`. */
  readonly url: (database: string) => string;
  /** How many COMMITs came that `cutCommits` or `keepCommit` was about. */
  readonly cuts: () => number;
  /** The next so many COMMITs reach the server, and their answers nobody. */
  cutCommits(count: number): void;
  /** The next COMMIT reaches nobody. */
  keepCommit(): void;
  /** While true, nothing passes in either direction, and no connection ends. */
  setSilent(isSilent: boolean): void;
  /** From now on connections lead there; those that are open end. */
  leadTo(cluster: Pick<Cluster, "folder" | "port">): void;
  readonly stop: () => Promise<void>;
}

/** The command as it is sent. */
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
      // It comes by itself: what it ends was waited for.
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
