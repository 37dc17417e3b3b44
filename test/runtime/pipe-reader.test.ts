import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readChunks, readGivenFile } from "../../src/runtime/pipe-reader.ts";

let folder: string;
let pipe: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-pipe-"));
  pipe = path.join(folder, "pipe");
  await promisify(execFile)("mkfifo", [pipe]);
});
afterEach(() => rm(folder, { recursive: true }));

async function readAll(signal: AbortSignal): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readChunks(pipe, signal)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

it("when a writer comes and goes, then all that it wrote is read", async () => {
  const text = "x".repeat(200_000);
  const [read] = await Promise.all([readAll(new AbortController().signal), writeFile(pipe, text)]);
  expect(read).toBe(text);
});

it("when the signal is aborted before any writer has come, then reading ends with its reason", async () => {
  const stop = new AbortController();
  const read = readAll(stop.signal);
  stop.abort(new Error("enough"));
  await expect(read).rejects.toThrow("enough");
});

it("when the signal is aborted while a writer says nothing, then reading ends with its reason", async () => {
  const stop = new AbortController();
  const pieces = readChunks(pipe, stop.signal);
  const first = pieces.next();
  const writer = await open(pipe, constants.O_WRONLY);
  await writer.write("begun");
  expect(String((await first).value)).toBe("begun");
  const second = pieces.next();
  stop.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await writer.close();
});

it("when the signal was aborted already, then nothing is opened", async () => {
  await expect(readAll(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

it("when there is no such file, then the system's error says so", async () => {
  await rm(pipe);
  await expect(readAll(new AbortController().signal)).rejects.toMatchObject({ code: "ENOENT" });
});

it("a pipe that nothing writes to is refused and not waited for", async () => {
  await expect(readAll(new AbortController().signal)).rejects.toThrow("it is a pipe that nothing writes to");
});

it("a device and a folder are refused", async () => {
  await expect(readGivenFile("/dev/zero")).rejects.toThrow("it is a device, not a file");
  await expect(readGivenFile(folder)).rejects.toThrow("it is a directory, not a file");
});

it("a file of 1 MiB is read, and a larger one or a pipe without an end is refused", async () => {
  const file = path.join(folder, "large");
  await writeFile(file, Buffer.alloc(1024 * 1024));
  expect(await readGivenFile(file)).toHaveLength(1024 * 1024);
  await writeFile(file, Buffer.alloc(1024 * 1024 + 1));
  await expect(readGivenFile(file)).rejects.toThrow("it is larger than 1 MiB");
  const endless = execFile("sh", ["-c", 'exec cat /dev/zero > "$0"', pipe]);
  const writer = await open(pipe, constants.O_RDWR);
  await expect(readGivenFile(pipe)).rejects.toThrow("it is larger than 1 MiB");
  endless.kill("SIGKILL");
  await writer.close();
});

it("a writer that pauses is waited for", async () => {
  const writer = execFile("sh", ["-c", 'exec > "$0"; read go; printf begun; read go; printf " ended"', pipe]);
  const keeper = await open(pipe, constants.O_RDWR);
  const pieces = readChunks(pipe);
  const first = pieces.next();
  writer.stdin?.write("go\n");
  expect(String((await first).value)).toBe("begun");
  const second = pieces.next();
  writer.stdin?.write("go\n");
  expect(String((await second).value)).toBe(" ended");
  await keeper.close();
  expect((await pieces.next()).done).toBe(true);
});
