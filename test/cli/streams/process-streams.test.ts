import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createProcessStreams } from "../../../src/cli/streams/process-streams.ts";
import type { Process } from "../../../src/cli/process.ts";

async function onStderr(texts: readonly (string | Uint8Array)[], jsonErrors: boolean): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const { err } = createProcessStreams(
    { stdin, stdout, stderr } as unknown as Pick<Process, "stdin" | "stdout" | "stderr">,
    { onOutputLost: () => {}, signal: new AbortController().signal, jsonErrors },
  );
  for (const text of texts) await err.write(text);
  stderr.end();
  return String(Buffer.concat(await stderr.toArray()));
}

describe("stderr", () => {
  it("when text steers a terminal, then it is shown as escapes", async () => {
    expect(await onStderr(["warning: a\u001B]0;title\u0007b\u009Bc\u202Ed\n"], false)).toBe(
      "warning: a\\u001b]0;title\\u0007b\\u009bc\\u202ed\n",
    );
  });

  it("when the program itself steers the terminal, then its bytes pass", async () => {
    expect(await onStderr([new TextEncoder().encode("\u001B[1G")], false)).toBe("\u001B[1G");
  });

  it("when JSON is asked for, then every line is an object that says what it is", async () => {
    const said = await onStderr(
      [
        "note: 2 columns hidden\n",
        "warning: a\u001Bb\n\n",
        "1 saved\nresults: x.csv\n",
        '{"error":{"code":"usage"}}\n',
        "{not json}\n",
        new TextEncoder().encode("\u001B[1Glive"),
      ],
      true,
    );
    expect(
      said
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line)),
    ).toEqual([
      { note: "2 columns hidden" },
      { warning: "a\u001Bb" },
      { note: "1 saved" },
      { note: "results: x.csv" },
      { error: { code: "usage" } },
      { note: "{not json}" },
    ]);
    expect(said).not.toContain("\u001B");
  });
});
