import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { reachableUrl } from "../../../../src/cli/commands/serve/address.ts";

function makeCertificate(names: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-address-"));
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=x -keyout key.pem";
  const extension = names === "" ? [] : ["-addext", `subjectAltName=${names}`];
  const { stdout } = spawnSync("openssl", [...args.split(" "), ...extension], { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return stdout;
}

test.each([
  ["http://0.0.0.0:80", null, "http://127.0.0.1:80"],
  ["http://[::]:80", null, "http://[::1]:80"],
  ["http://192.0.2.7:80", null, "http://192.0.2.7:80"],
  ["https://0.0.0.0:443", "DNS:survey.example.com,DNS:other.example", "https://survey.example.com:443"],
  ["https://[::1]:443", "IP:192.0.2.1,DNS:localhost", "https://localhost:443"],
  ["https://0.0.0.0:443", "DNS:*.example.com,IP:127.0.0.1", "https://127.0.0.1:443"],
  ["https://0.0.0.0:443", "", "https://127.0.0.1:443"],
])("when a server listens on %s with a certificate for %j, then %s is named", (url, names, expected) => {
  return expect(reachableUrl(url, names === null ? null : makeCertificate(names))).resolves.toBe(expected);
});
