import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { systemRandom } from "../../src/runtime/random.ts";
import { removeControlFile } from "../../src/service/control/control-file.ts";
import { runServer } from "../../src/service/run-server.ts";
import { openEmbeddedService } from "../helpers/embedded-service.ts";

it("when what it left beside the data file cannot be removed, then the data file is free all the same", async () => {
  const { service, folder } = await openEmbeddedService();
  const dataFile = path.join(folder, "survey.db");
  const options = { dataFile, host: "127.0.0.1", port: 0, tls: null, random: systemRandom, publicUrl: null };
  const server = await runServer(service, options);
  await removeControlFile(dataFile);
  await mkdir(`${dataFile}.control/in-the-way`, { recursive: true });
  await expect(server.stop()).rejects.toThrow("control");
  expect((await readdir(folder)).filter((name) => name.endsWith(".owner"))).toEqual([]);
  await rm(folder, { recursive: true });
});
