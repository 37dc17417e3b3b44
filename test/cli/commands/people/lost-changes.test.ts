/** If the first response to a change is lost, the repeat finds nothing to change, but the change was made. */
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { afterEach, expect, test } from "vitest";
import { UNCHANGED } from "../../../../src/contract/http.ts";
import { runInside } from "../../../helpers/in-process.ts";
import { listening } from "../../../helpers/misbehaving-server.ts";

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(lost: number): Promise<Readonly<Record<string, string>>> {
  let left = lost;
  server = createServer((request, response) => {
    left -= 1;
    if (left >= 0) return void request.socket.destroy();
    return void response.writeHead(202, { "content-type": "application/json", ...UNCHANGED }).end('{"ok":true}');
  });
  return { SURVEYCTL_BASE_URL: `http://127.0.0.1:${await listening(server)}`, SURVEYCTL_API_KEY: "key" };
}

test.each([
  [0, "unchanged"],
  [1, "cancelled"],
])("when %i answers to cancel are lost, then it says %s", async (lost, outcome) => {
  const env = await serve(lost);
  const { status, stdout } = await runInside({
    args: ["people", "cancel", "ann@example.com", "--yes"],
    home: tmpdir(),
    env,
  });
  expect([status, stdout]).toEqual([0, `ann@example.com\t${outcome}\t\n`]);
});
