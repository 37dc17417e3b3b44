import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createTextSink } from "../../../src/bulk/export/byte-sink.ts";

it.each([false, true])("passes on every byte in order and hashes what left (gzip: %s)", async (gzip) => {
  const chunks: Uint8Array[] = [];
  const sink = createTextSink({
    gzip,
    write: async (bytes) => {
      await new Promise((resolve) => setImmediate(resolve));
      chunks.push(Uint8Array.from(bytes));
    },
  });
  const texts = Array.from({ length: 40 }, (_, index) => `${index}é`.repeat(5000));
  for (const text of texts) await sink.write(text.length % 2 === 0 ? text : Buffer.from(text));
  const totals = await sink.end();
  const written = Buffer.concat(chunks);
  expect((gzip ? gunzipSync(written) : written).toString()).toBe(texts.join(""));
  expect(totals).toEqual({ bytes: written.length, sha256: createHash("sha256").update(written).digest("hex") });
});

it.each([false, true])("fails with the error of the disk (gzip: %s)", async (gzip) => {
  const sink = createTextSink({ gzip, write: () => Promise.reject(new Error("no space left")) });
  const writing = async (): Promise<void> => {
    for (let index = 0; index < 200; index += 1)
      await sink.write(createHash("sha512").update(`${index}`).digest("hex").repeat(200));
    await sink.end();
  };
  await expect(writing()).rejects.toThrow("no space left");
  sink.destroy();
});
