/** A mail server on a bare socket that can break the protocol. */
import { appendFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from "node:tls";

export interface RawSmtpOptions {
  /** Null sends nothing. */
  readonly greeting?: string | null;
  readonly offers?: readonly string[];
  /** Full replies by verb. Null sends nothing; `drop` closes the connection. */
  readonly replies?: Readonly<Record<string, string | null>>;
  readonly laterReplies?: Readonly<Record<string, string | null>>;
  /** Sent in the middle of the message; `drop` closes the connection. */
  readonly inMessage?: string;
  /** The reply to the final dot. Null sends nothing; `drop` closes the connection. */
  readonly afterDot?: string | null;
  readonly replyDelayMs?: number;
  /** Then closes the connection without a 421. */
  readonly messagesPerConnection?: number;
  readonly tls?: TlsOptions & { readonly isImplicit?: boolean };
  readonly keep?: (message: string) => string;
  readonly journal?: string;
}

export interface RawSmtpStub {
  readonly port: number;
  readonly lines: readonly string[];
  readonly dots: readonly string[];
  readonly messages: readonly string[];
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

export async function startRawSmtp(options: RawSmtpOptions = {}): Promise<RawSmtpStub> {
  const lines: string[] = [];
  const messages: string[] = [];
  const dots: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const onMessage = (socket: Socket, text: string, count: number): void => {
    const id = /^Message-ID: *(\S+)/im.exec(text)?.[1] ?? "";
    messages.push(options.keep?.(text) ?? text);
    dots.push(id);
    if (options.journal !== undefined) appendFileSync(options.journal, `${id}\n`);
    const { afterDot = "250 2.0.0 Ok: queued as RAW", replyDelayMs = 0 } = options;
    const close = (): void => void (count === options.messagesPerConnection && socket.end());
    const reply = (): void => (say(socket, afterDot), close());
    if (replyDelayMs === 0) reply();
    else setTimeout(reply, replyDelayMs);
  };

  const onCommand = (socket: Socket, line: string, isLater: boolean): boolean => {
    lines.push(line);
    const verb = line.split(/[ :]/)[0]?.toUpperCase() ?? "";
    const offers = ["stub", ...(options.offers ?? [])];
    const ehlo = offers.map((offer, at) => `250${at === offers.length - 1 ? " " : "-"}${offer}`).join("\r\n");
    const usual: Record<string, string> = { EHLO: ehlo, DATA: "354 go on", QUIT: "221 bye", AUTH: "235 ok" };
    usual["STARTTLS"] = options.tls === undefined ? "502 5.5.1 not implemented" : "220 go on";
    const given = { ...usual, ...options.replies, ...(isLater ? options.laterReplies : {}) };
    const reply = given[verb] === undefined ? "250 ok" : given[verb];
    say(socket, reply);
    if (verb === "QUIT") socket.end();
    return verb === "DATA" && /^[23]/.test(reply ?? "");
  };

  const converse = (socket: Socket): void => {
    let [waiting, inMessage, count] = ["", false, 0];
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    socket.on("data", (chunk) => {
      waiting += chunk.toString("latin1");
      for (;;) {
        const end = inMessage ? /^\.\r\n|\r\n\.\r\n/.exec(waiting) : /\r\n/.exec(waiting);
        if (end === null && inMessage && options.inMessage !== undefined) say(socket, options.inMessage);
        if (end === null) return;
        const text = waiting.slice(0, end.index);
        waiting = waiting.slice(end.index + end[0].length);
        if (inMessage) onMessage(socket, text, (count += 1));
        inMessage = inMessage ? false : onCommand(socket, text, count > 0);
        if (options.tls !== undefined && text === "STARTTLS") {
          socket.removeAllListeners("data");
          converse(new TLSSocket(socket, { isServer: true, ...options.tls }));
          return;
        }
      }
    });
  };

  const greet = (socket: Socket): void => {
    connections += 1;
    converse(socket);
    say(socket, options.greeting === undefined ? "220 stub ESMTP" : options.greeting);
  };
  const isImplicit = options.tls?.isImplicit === true;
  const server = isImplicit ? createTlsServer(options.tls ?? {}, greet) : createServer(greet);
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  return { port, lines, dots, messages, connections: () => connections, stop };
}

function say(socket: Socket, reply: string | null): void {
  if (reply === "drop") socket.destroy();
  else if (reply !== null && !socket.destroyed) socket.write(`${reply}\r\n`);
}
