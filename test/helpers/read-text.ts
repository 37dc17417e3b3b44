import type { HttpResponse } from "../../src/contract/http.ts";

export async function readText({ body }: HttpResponse): Promise<string> {
  if (typeof body === "string") return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
