import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { releaseDeadClaims } from "../../../../src/service/domain/delivery/deliveries.ts";
import { size } from "../../../helpers/long.ts";
import { useChildProgram } from "../../../helpers/child-program.ts";
import { openFixture } from "../../domain/fixture.ts";
import { newDataFile } from "../engines.ts";
import { claimDue } from "../../domain/claim-due.ts";

const KILLS = size(1, 4);
const TIMEOUT_MS = 60_000;
const program = useChildProgram(path.join(import.meta.dirname, "child-writer.ts"));

function runUntilKilled(file: string, first: number, lines: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program.script, file, String(first)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    const complaints: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => complaints.push(text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.push(text);
      if (said.join("").split("\n").length > lines) child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("close", (_, signal) => {
      if (signal === "SIGKILL") resolve(said.join("").split("\n").slice(0, -1));
      else reject(new Error(`the writer ended by itself: ${complaints.join("")}`));
    });
  });
}

describe("a data file", () => {
  test(
    "when a process that writes is killed, then the file opens, whole, with all that it acknowledged",
    async () => {
      const file = newDataFile();
      const said: string[] = [];
      for (let run = 0; run < KILLS; run += 1) {
        said.push(...(await runUntilKilled(file, run * 100_000, 50 + 137 * run)));
      }
      const about = (verb: string): string[] =>
        said.filter((line) => line.startsWith(`${verb} `)).map((line) => line.slice(verb.length + 1));
      const fixture = await openFixture({ file });
      expect(await fixture.store.check()).toEqual([]);

      const people = await fixture.read((tx) =>
        tx.people.list(fixture.project.id, { since: null, until: null, after: null, limit: 1_000_000 }),
      );
      const stored = new Map(
        people
          .map((row) => JSON.parse(row) as { email: string; last_sent_at: number | null })
          .map((person) => [person.email, person]),
      );
      expect(about("saved").filter((email) => !stored.has(email))).toEqual([]);
      expect(about("saved").length).toBeGreaterThan(KILLS * 20);
      expect(about("sent").filter((email) => stored.get(email)?.last_sent_at == null)).toEqual([]);
      expect(new Set(about("mailing")).size).toBe(about("mailing").length);

      await fixture.write((tx) => releaseDeadClaims(tx));
      fixture.time.now = 4_000_000_000;
      const due = await fixture.write((tx) =>
        claimDue(tx, { claimer: "next", channel: "email", leaseSeconds: 60, limit: 1_000_000 }),
      );
      const waiting = new Set(due.map(({ person }) => person.email));
      expect(
        [...stored.values()].filter((person) => waiting.has(person.email) === (person.last_sent_at !== null)),
      ).toEqual([]);
      await fixture.store.close();
    },
    TIMEOUT_MS,
  );
});
