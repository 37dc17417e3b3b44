import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { listUnseen, markSeen } from "../../../../src/service/delivery/bounce/maildir.ts";

it("when two runs mark one message as seen, then both are done with it", async () => {
  const maildir = await mkdtemp(path.join(tmpdir(), "surveyctl-maildir-"));
  onTestFinished(() => rm(maildir, { recursive: true, force: true }));
  for (const folder of ["new", "cur"]) await mkdir(path.join(maildir, folder));
  await writeFile(path.join(maildir, "new/1.host"), "Subject: hello\n\n");
  const [message] = await listUnseen(maildir);
  if (message === undefined) throw new Error("the message is not listed");
  await markSeen(maildir, message);
  await markSeen(maildir, message);
  expect(await readdir(path.join(maildir, "cur"))).toEqual(["1.host:2,S"]);
});

it("when a folder is not a Maildir, then new/ is named each time", async () => {
  for (let run = 0; run < 50; run += 1)
    await expect(listUnseen("/none")).rejects.toThrow("/none is not a Maildir: new/ cannot be read");
});
