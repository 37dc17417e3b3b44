import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { openInput } from "../../../src/cli/importing/input-source.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

async function* brokenInput(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("email\nada@example.com\n");
  throw new Error("broken");
}

it("when standard input breaks off, then no rows stay behind in the temporary folder", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-input-"));
  vi.stubEnv("TMPDIR", folder);
  const { deps } = fakeDeps();
  const opened = openInput(
    { ...deps, streams: { ...deps.streams, in: { ...deps.streams.in, bytes: brokenInput } } },
    "-",
  );
  await expect(opened).rejects.toThrow("broken");
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});
