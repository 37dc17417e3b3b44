import type { HttpResponse } from "../../contract/http.ts";

/** Bytes of a list page or a single thing, and of an error's body, that are read at most. */
export const BODY_LIMIT = 64 * 1024 * 1024;
export const ERROR_BODY_LIMIT = 1024 * 1024;

export interface Body {
  readonly bytes: Uint8Array;
  /** More came, or was announced, than the limit; `bytes` is but its beginning. */
  readonly tooLarge: boolean;
  /** What broke the body off, when it did; `bytes` is what had come. */
  readonly brokenBy: Error | null;
}

/** Reads a body whole, unless it is larger than `limitBytes`: the rest is left in the socket. Never throws but for an abort. */
export async function readBody(response: HttpResponse, limitBytes: number, signal?: AbortSignal): Promise<Body> {
  if (typeof response.body === "string") return { bytes: Buffer.from(response.body), tooLarge: false, brokenBy: null };
  const chunks: Uint8Array[] = [];
  const announced = Number(response.headers["content-length"] ?? 0);
  let size = 0;
  const whole = (): Uint8Array => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  try {
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (Math.max(size, announced) > limitBytes) return { bytes: chunks[0] ?? chunk, tooLarge: true, brokenBy: null };
      chunks.push(chunk);
    }
  } catch (error) {
    signal?.throwIfAborted();
    return { bytes: whole(), tooLarge: false, brokenBy: error as Error };
  }
  return { bytes: whole(), tooLarge: false, brokenBy: null };
}
