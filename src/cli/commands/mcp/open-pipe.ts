/** Standard input and output for the MCP transport. The input ends only once all requests have been answered. */
import { Readable, Writable } from "node:stream";
import {
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
} from "@modelcontextprotocol/server";
import { isJsonObject, type Json, parseJson, parseJsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../kit/deps.ts";

export function openPipe({ streams, signal }: Deps) {
  const open = new Set<string>();
  const state = { answered: (): void => undefined, end: (): void => undefined };
  const ended = new Promise<void>((resolve) => {
    state.end = resolve;
  });
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const line of linesOf(streams.in.bytes())) {
      const message = line === null ? undefined : parseJson(line);
      const fault = line === null ? "a message is larger than 1 MiB" : faultOf(message);
      if (fault !== null) {
        await streams.out.write(refusal(message, fault));
        continue;
      }
      if (isJSONRPCRequest(message)) open.add(JSON.stringify(message.id));
      // The library doesn't answer a canceled request.
      if (isJSONRPCNotification(message) && message.method === "notifications/cancelled")
        open.delete(JSON.stringify(message.params?.["requestId"]));
      yield Buffer.from(`${line}\n`);
    }
    while (open.size > 0 && !signal.aborted)
      await new Promise<void>((resolve) => {
        state.answered = resolve;
      });
    state.end();
  }
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      const message = parseJsonObject(chunk.toString("utf8"));
      if (message !== null && !("method" in message)) open.delete(JSON.stringify(message["id"] ?? null));
      void streams.out.write(chunk).finally(() => done());
      state.answered();
    },
  });
  signal.addEventListener("abort", () => state.end(), { once: true });
  return { input: Readable.from(read(), { objectMode: false }), output, ended };
}

const LINE_MAX = 1024 * 1024;

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let rest: string | null = "";
  const decoder = new TextDecoder();
  for await (const part of bytes) {
    const [first = "", ...others] = decoder.decode(part, { stream: true }).split("\n");
    const lines: (string | null)[] = [rest === null ? null : rest + first, ...others];
    const bounded = lines.map((line) => (line === null || line.length > LINE_MAX ? null : line));
    rest = bounded.pop() ?? null;
    yield* bounded;
  }
  if (rest !== "") yield rest;
}

/** The library doesn't answer invalid requests, so their sender would wait forever. */
function faultOf(message: Json | undefined): string | null {
  const isKnown = isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message);
  return message === undefined || isKnown ? null : "not a request of JSON-RPC 2.0";
}

function refusal(message: Json | undefined, fault: string): string {
  const { id = null } = isJsonObject(message) ? message : {};
  const known = typeof id === "string" || typeof id === "number" ? id : null;
  return `${JSON.stringify({ jsonrpc: "2.0", id: known, error: { code: INVALID_REQUEST, message: fault } })}\n`;
}
