import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type GivenSetup, SETUP_FLAGS } from "../../../../../src/cli/commands/serve/mail.ts";
import { runDeliveryDoctor, runDeliveryTest } from "../../../../../src/cli/commands/service/delivery/doctor.ts";
import { UsageError } from "../../../../../src/cli/errors/usage-error.ts";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../../src/runtime/random.ts";
import { type DkimKey, dkimRecord, readDkimKey } from "../../../../../src/service/delivery/mail/dkim.ts";
import { readMail } from "../../../../service/delivery/read-mail.ts";
import { dkimProblem } from "../../../../helpers/dkim-verifier.ts";
import { addProject } from "../../../../../src/service/domain/projects/projects.ts";
import { openTestService } from "../../../../helpers/test-service.ts";
import { parseSmtpUrl } from "../../../../../src/service/delivery/smtp/smtp-url.ts";
import { fakeDeps, type FakeOptions } from "../../../../helpers/fake-deps.ts";
import { runInProcess } from "../../../../helpers/in-process.ts";
import { startRawSmtp } from "../../../../helpers/raw-smtp-stub.ts";
import { RSA_PEM, type SmtpPlanServer, startPlanServer } from "../../../../helpers/smtp-plan-server.ts";

const made = { key: null as DkimKey | null };
beforeAll(() => {
  made.key = readDkimKey(RSA_PEM, { domain: "example.com", selector: "s1" });
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(): Promise<SmtpPlanServer> {
  const server = await startPlanServer({ credentials: { user: "app", password: "secret-word" } });
  stops.push(server.stop);
  return server;
}

function setup(url: string | null, given: Partial<GivenSetup> = {}): GivenSetup {
  return {
    publicUrl: "https://survey.example.com",
    from: "survey@example.com",
    senderName: null,
    replyTo: "help@example.com",
    bounceAddress: "bounces@example.com",
    server: url === null ? null : parseSmtpUrl(url),
    certificates: null,
    rate: { count: 10, perSeconds: 1 },
    dkim: made.key,
    ...given,
  };
}

function world(options: FakeOptions = {}) {
  const fake = fakeDeps(options);
  return { ...fake, deps: { ...fake.deps, clock: systemClock } };
}

test("a test mail is marked, signed, and its score links lead to the preview page", async () => {
  const server = await start();
  const { deps, out, err } = world({ options: { output: "json" } });
  const given = setup(`smtp://app:secret-word@127.0.0.1:${server.port}`);
  expect(await runDeliveryTest(deps, { setup: given, to: "ok@example.org", data: null, project: null })).toBe(0);
  const shown = JSON.parse(out()) as { ms: number; message_id: string };
  expect(shown).toEqual({
    outcome: "accepted",
    to: "ok@example.org",
    subject: "[Test] How are we doing?",
    message_id: shown.message_id,
    stage: "final-dot",
    code: 250,
    enhanced_code: "2.0.0",
    text: "Ok: queued as 1",
    host: "127.0.0.1",
    server_id: "1",
    ms: shown.ms,
  });
  expect(err()).toContain("Sent to ok@example.org.");
  const [mail] = server.accepted;
  expect([server.accepted.length, mail?.from, mail?.to]).toEqual([1, "bounces@example.com", "ok@example.org"]);
  const text = mail?.text ?? "";
  expect(text).toMatch(/^X-Surveyctl-Test: yes\r$/m);
  const { headers, parts } = readMail(text);
  expect(parts["text/plain"]).toContain("https://survey.example.com/s/preview-en?score=9");
  expect(headers["reply-to"]).toBe("help@example.com");
  expect(made.key && dkimProblem(text, dkimRecord(made.key))).toBeNull();
});

test("a test mail of a project comes from its own sender", async () => {
  const server = await start();
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-doctor-"));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const data = path.join(folder, "survey.db");
  const options = { clock: systemClock, random: systemRandom, log: silentLog, publicUrl: null, rateLimit: null };
  const service = await openTestService({ ...options, dataFile: data });
  await service.store.write(async (tx) => void (await addProject(tx, "default")), { project: "all" });
  await service.admin({ kind: "project.add", name: "acme" });
  const change = { from: "survey@acme.example", sender_name: "Acme Inc", reply_to: "help@acme.example" };
  await service.admin({ kind: "settings", project: "acme", ...change });
  await service.close();
  const sendFrom = async (...more: string[]) => {
    const url = `smtp://app:secret-word@127.0.0.1:${server.port}`;
    const flags = ["--smtp", url, "--smtp-from", "Everybody <survey@example.com>", ...more];
    const { status, stderr } = await runInProcess({
      args: ["service", "delivery", "test", "ok@example.org", "-q", ...flags],
    });
    return [status, stderr];
  };
  expect(await sendFrom()).toEqual([0, ""]);
  expect(await sendFrom("--data", data)).toEqual([0, ""]);
  expect(await sendFrom("--data", data, "--project", "acme")).toEqual([0, ""]);
  expect(
    server.accepted.map(({ text }) => readMail(text).headers).map((headers) => [headers.from, headers["reply-to"]]),
  ).toEqual([
    ["Everybody <survey@example.com>", undefined],
    ["Everybody <survey@example.com>", undefined],
    ["Acme Inc <survey@acme.example>", "help@acme.example"],
  ]);
  expect(await sendFrom("--data", data, "--project", "nope")).toEqual([5, 'error: there is no project "nope"\n']);
  expect(await sendFrom("--project", "acme")).toEqual([
    2,
    expect.stringContaining("error: --project requires --data, --database or --database-file\n"),
  ]);
  expect(server.accepted).toHaveLength(3);
});

async function sendTest(port: number, to: string, login = ""): Promise<[number, unknown, unknown]> {
  const url = `smtp://${login}127.0.0.1:${port}`;
  const flags = ["--smtp", url, "--smtp-from", "survey@example.com", "-o", "json"];
  const { status, stdout, stderr } = await runInProcess({ args: ["service", "delivery", "test", to, ...flags] });
  const { outcome, stage, code, enhanced_code, text } = JSON.parse(stdout) as Record<string, unknown>;
  return [status, { outcome, stage, code, enhanced_code, text }, JSON.parse(stderr)];
}

const errorOf = (code: string, message: string, hint: string | null = null) => ({
  error: { code, message, status: null, details: null, hint },
});

test("a refused test mail is told in the server's words, with exit 1", async () => {
  const server = await start();
  const text = "The address does not exist";
  expect(await sendTest(server.port, "550-5.1.1@example.org", "app:secret-word@")).toEqual([
    1,
    { outcome: "refused", stage: "rcpt-to", code: 550, enhanced_code: "5.1.1", text },
    errorOf("mail_refused", `the mail server refused the mail at rcpt-to: 550 5.1.1 ${text}`),
  ]);
  expect(server.accepted).toEqual([]);
});

test("a wrong password is told without the password", async () => {
  const server = await start();
  const text = "Wrong user name or password";
  expect(await sendTest(server.port, "ok@example.org", "app:wrong-word@")).toEqual([
    1,
    { outcome: "refused", stage: "auth", code: 535, enhanced_code: "5.7.8", text },
    errorOf("mail_refused", `the mail server refused the mail at auth: 535 5.7.8 ${text}`),
  ]);
});

test("a test mail without a mail server's answer was not sent", async () => {
  const text = "the server refused the connection";
  expect(await sendTest(1, "ok@example.org")).toEqual([
    1,
    { outcome: "broken", stage: "connect", code: null, enhanced_code: null, text },
    errorOf("mail_not_sent", `the mail was not sent: ${text}`),
  ]);
});

test("a test mail whose connection ends after the final dot may have arrived", async () => {
  const stub = await startRawSmtp({ afterDot: "drop" });
  stops.push(stub.stop);
  const text = "the server closed the connection";
  expect(await sendTest(stub.port, "ok@example.org")).toEqual([
    1,
    { outcome: "broken", stage: "final-dot", code: null, enhanced_code: null, text },
    errorOf("mail_unknown", `the mail may have arrived: ${text}`, "look in the mailbox before you send another one"),
  ]);
});

test.each<readonly [string, GivenSetup, string]>([
  ["without a mail server", setup(null), "a mail server is required"],
  ["without a sender", setup("smtp://127.0.0.1:1", { from: null }), "--smtp-from is required"],
  [
    "with a key that cannot sign",
    setup("smtp://127.0.0.1:1", { dkim: "--dkim-key: the DKIM key has 1024 bits" }),
    "--dkim-key: the DKIM key has 1024 bits",
  ],
])("%s no test mail is sent", async (_what, given, message) => {
  const { deps } = world();
  await expect(
    runDeliveryTest(deps, { setup: given, to: "ok@example.org", data: null, project: null }),
  ).rejects.toMatchObject({
    name: "UsageError",
    message,
  });
});

test("--dry-run sends no test mail", async () => {
  const server = await start();
  const { deps } = world({ options: { dryRun: true } });
  const given = setup(`smtp://127.0.0.1:${server.port}`);
  await expect(
    runDeliveryTest(deps, { setup: given, to: "ok@example.org", data: null, project: null }),
  ).rejects.toThrow(UsageError);
  expect(server.connections()).toBe(0);
});

test("the doctor asks DNS and the server, sends nothing, and ends with 6 on a problem", async () => {
  const server = await start();
  const names = { addresses: async () => [], mailHosts: async () => [], texts: async () => [] };
  const { deps, out, err } = world({ names, options: { output: "json" } });
  const given = setup(`smtp://app:secret-word@127.0.0.1:${server.port}`);
  expect(await runDeliveryDoctor(deps, { setup: given, offline: false, data: null })).toBe(6);
  const rows = JSON.parse(out()) as { check: string; result: string; detail: string; rule: string }[];
  expect(rows.filter(({ result }) => result === "problem").map(({ check }) => check)).toEqual([
    "sender-mx",
    "spf",
    "dkim-record",
    "dmarc",
  ]);
  expect(rows.every(({ rule }) => rule !== "")).toBe(true);
  expect(err()).toBe("4 problems, 1 warning.\n");
  expect([server.logins(), server.accepted]).toEqual([1, []]);
  expect(out() + err()).not.toContain("secret-word");
});

test("offline the doctor asks nobody, and ends with 0 without a problem", async () => {
  const { deps, out, err } = world();
  expect(await runDeliveryDoctor(deps, { setup: setup("smtp://relay.example.com"), offline: true, data: null })).toBe(
    0,
  );
  expect(out().split("\n")[0]).toBe(
    "sender\tok\tsurvey@example.com\tone valid From of a domain of yours (Gmail 550 5.7.1, Microsoft 550 5.7.515)",
  );
  expect(err()).toBe("0 problems, 2 warnings.\n");
});

test("the doctor takes the flags of serve that decide what a mail looks like and how it gets out", () => {
  expect(SETUP_FLAGS.map(({ flag }) => flag)).toEqual([
    "--smtp",
    "--smtp-file",
    "--smtp-from",
    "--smtp-reply-to",
    "--smtp-rate",
    "--bounce-address",
    "--dkim-key",
    "--dkim-selector",
    "--dkim-domain",
    "--public-url",
  ]);
});

test("the doctor refuses a wrong value without a mail server, too", async () => {
  const { status, stderr } = await runInProcess({
    args: ["service", "delivery", "doctor", "--offline", "--smtp-rate", "fast"],
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining('--smtp-rate: "fast" is not a limit')]);
});
