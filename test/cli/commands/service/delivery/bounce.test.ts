import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../../src/runtime/random.ts";
import { NO_SENDER } from "../../../../../src/service/delivery/message/sender.ts";
import { sendPerson } from "../../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../../src/service/domain/projects/projects.ts";
import { openTestService } from "../../../../helpers/test-service.ts";
import { runInside } from "../../../../helpers/in-process.ts";
import type { Ended } from "../../../../helpers/run-cli.ts";
import { startServe, type Served } from "../../../../helpers/serve.ts";
import { startPlanServer } from "../../../../helpers/smtp-plan-server.ts";
import { formatMail, formatReport } from "../../../../service/delivery/bounce/reports.ts";
import { sendInput } from "../../../../service/domain/fixture.ts";

const BOUNCES = "bounce+{token}@survey.example";
const state: { folder: string; open: (() => Promise<unknown>)[] } = { folder: "", open: [] };
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-bounce-"));
});
afterEach(async () => {
  for (const stop of state.open.splice(0).toReversed()) await stop();
  await rm(state.folder, { recursive: true, force: true });
});

const dsn = (email: string, status = "5.1.1", action = "failed"): string =>
  formatReport(`Final-Recipient: rfc822; ${email}\nAction: ${action}\nStatus: ${status}`, { returned: null });
const NOTHING = {
  received: 0,
  bounced: 0,
  unsubscribed: 0,
  soft: 0,
  logged: 0,
  ignored: 0,
  unmatched: 0,
  repeated: 0,
  unreadable: 0,
};

const returnedTo = (sender: string | undefined, report: string): string => `Delivered-To: ${sender}\n${report}`;

async function serveMailed(...emails: readonly string[]): Promise<Mailed> {
  return serveWith(["--bounce-address", BOUNCES], emails);
}

interface Mailed {
  readonly served: Served;
  readonly senders: Map<string, string>;
}

async function serveWith(args: readonly string[], emails: readonly string[]): Promise<Mailed> {
  const mail = await startPlanServer();
  state.open.push(mail.stop);
  const smtp = ["--smtp", `smtp://127.0.0.1:${mail.port}`, "--smtp-from", "ask@survey.example", "--local-links"];
  const served = await startServe({ args: [...smtp, ...args] });
  state.open.push(() => served.stop());
  for (const email of emails) await served.run(["people", "add", "--email", email, "--quiet"]);
  const counts = ["service", "delivery", "status", ...served.place, "--json"];
  const sent = async (): Promise<unknown> => JSON.parse((await served.run(counts)).stdout).sent;
  await expect.poll(sent).toBe(emails.length);
  return { served, senders: new Map(mail.accepted.map(({ to, from }) => [to, from])) };
}

type Runner = Pick<Served, "run" | "place">;

function bounce(
  { run, place }: Runner,
  args: readonly string[],
  more: Parameters<Served["run"]>[1] = {},
): Promise<Ended> {
  return run(["service", "bounce", ...args, ...place, "--json"], more);
}

async function makeMaildir(messages: Readonly<Record<string, string>>): Promise<string> {
  const dir = path.join(state.folder, "Maildir");
  for (const folder of ["new", "cur", "tmp"]) await mkdir(path.join(dir, folder), { recursive: true });
  for (const [name, text] of Object.entries(messages)) await writeFile(path.join(dir, name), text);
  return dir;
}

test("when a mail server pipes a report to a survey's own envelope, then the person bounces, and can be cleared", async () => {
  const { served, senders } = await serveMailed("ok@x.co", "ok+2@x.co");
  const recipient = senders.get("ok@x.co") ?? "";
  const piped = await bounce(served, ["receive", "--bounce-address", BOUNCES], {
    stdin: dsn("ok@x.co"),
    env: { RECIPIENT: recipient },
  });
  expect(piped).toEqual({ status: 0, signal: null, stdout: expect.any(String), stderr: "" });
  expect(JSON.parse(piped.stdout)).toEqual({ ...NOTHING, received: 1, bounced: 1 });
  const bounces = await served.run(["bounces", "list", "-o", "csv", "--columns", "email"]);
  expect(bounces.stdout).toBe("email\nok@x.co\n");
  const cleared = await bounce(served, ["clear", "ok@x.co"]);
  expect(JSON.parse(cleared.stderr)).toEqual({ note: "Cleared the bounce of ok@x.co. Surveys are sent to it again." });
  const at = expect.any(Number);
  const said = { reported_at: at, stage: "report", code: null, enhanced_code: "5.1.1", text: null };
  expect(JSON.parse(cleared.stdout)).toEqual({ email: "ok@x.co", bounced_at: at, ...said });
  expect((await bounce(served, ["clear", "ok@x.co"])).status).toBe(5);
});

test("when a Maildir has reports, then each is recorded once, also after a crash", async () => {
  const { served, senders } = await serveMailed("ok+1@x.co", "ok+2@x.co", "ok+3@x.co", "ok+4@x.co");
  const report = (email: string, status?: string): string => returnedTo(senders.get(email), dsn(email, status));
  const dir = await makeMaildir({
    "new/1.a": report("ok+1@x.co"),
    "new/2.b": "\0\0 not a message",
    "new/3.c": formatMail({ type: "text/plain", headers: ["Auto-Submitted: auto-replied"], body: "away" }),
    "new/.hidden": report("ok+4@x.co"),
    "cur/4.d:2,R": report("ok+2@x.co", "5.2.2"),
    "cur/5.e": dsn("never@x.co"),
    "cur/6.f:2,S": report("ok+4@x.co"),
  });
  await mkdir(path.join(dir, "new/7.folder"));
  const receive = async (runner: Runner): Promise<unknown> => {
    const { status, stdout, stderr } = await bounce(runner, ["receive", "--dir", dir]);
    return [status, JSON.parse(stdout), stderr];
  };
  const counts = { received: 5, bounced: 1, soft: 1, ignored: 2, unmatched: 1 };
  expect(await receive(served)).toEqual([0, { ...NOTHING, ...counts }, ""]);
  expect((await readdir(path.join(dir, "cur"))).toSorted()).toEqual([
    "1.a:2,S",
    "2.b:2,S",
    "3.c:2,S",
    "4.d:2,RS",
    "5.e:2,S",
    "6.f:2,S",
  ]);
  expect(await receive(served)).toEqual([0, NOTHING, ""]);

  // As if the program died after storing the report and before moving the file.
  await rename(path.join(dir, "cur/1.a:2,S"), path.join(dir, "new/1.a"));
  expect(await receive(served)).toEqual([0, { ...NOTHING, received: 1, repeated: 1 }, ""]);
});

test.each([
  [null, { bounced: 1 }],
  [BOUNCES, { logged: 1 }],
])(
  "when no server runs, then reports are recorded in the data file, by its bounce address %s",
  async (given, counts) => {
    const dataFile = path.join(state.folder, "survey.db");
    const service = await openTestService({
      dataFile,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      publicUrl: null,
      rateLimit: null,
      sender: { ...NO_SENDER, bounceAddress: given },
    });
    await service.setAddress("http://127.0.0.1:1");
    await service.store.write(
      async (tx) => sendPerson(tx, await addProject(tx, "default"), sendInput({ email: "ok@x.co" })),
      { project: "all" },
    );
    service.start();
    await service.finishDue();
    await service.close();
    const dir = await makeMaildir({ "new/1.a": dsn("ok@x.co") });
    const args = ["service", "bounce", "receive", "--dir", dir, "--data", dataFile, "--json"];
    const { status, stdout } = await runInside({ args, home: state.folder });
    expect([status, JSON.parse(stdout)]).toEqual([0, { ...NOTHING, received: 1, ...counts }]);
  },
);

test("when a message is larger than 10 MiB, then its beginning is read and its writer is not cut off", async () => {
  const { served, senders } = await serveMailed("ok@x.co");
  const text = `${returnedTo(senders.get("ok@x.co"), dsn("ok@x.co"))}\n${"x".repeat(99)}\n`;
  const stdin = text + `${"y".repeat(99)}\n`.repeat(110_000);
  const { status, stdout } = await bounce(served, ["receive"], { stdin });
  expect([status, JSON.parse(stdout)]).toEqual([0, { ...NOTHING, received: 1, bounced: 1 }]);
});

test("when a stranger's report names a person alone, then it is only logged, and the survey's own token still counts", async () => {
  const { served, senders } = await serveMailed("ok@x.co");
  const receive = async (stdin: string): Promise<unknown> => {
    const { status, stdout, stderr } = await bounce(served, ["receive"], { stdin });
    return [status, JSON.parse(stdout), stderr];
  };
  expect(await receive(dsn("ok@x.co"))).toEqual([0, { ...NOTHING, received: 1, logged: 1 }, ""]);
  const bounced = ["bounces", "list", "-o", "csv", "--columns", "email"];
  expect((await served.run(bounced)).stdout).toBe("email\n");
  const own = returnedTo(senders.get("ok@x.co"), dsn("ok@x.co"));
  expect(await receive(own)).toEqual([0, { ...NOTHING, received: 1, bounced: 1 }, ""]);
  expect((await served.run(bounced)).stdout).toBe("email\nok@x.co\n");
});

test("when serve starts without a bounce address, then the address in a report counts again", async () => {
  const { served } = await serveWith([], ["ok@x.co"]);
  const { stdout } = await bounce(served, ["receive"], { stdin: dsn("ok@x.co") });
  expect(JSON.parse(stdout)).toEqual({ ...NOTHING, received: 1, bounced: 1 });
});

async function post(to: string): Promise<unknown> {
  const body = JSON.stringify({ email: "ok@x.co", type: "complaint" });
  const response = await fetch(to, { method: "POST", body });
  return [response.status, await response.json()];
}

test("when a hook is asked for, then its URL records what is posted to it, and a wrong one is not found", async () => {
  const { served } = await serveMailed("ok@x.co");
  const { stdout } = await bounce(served, ["hook"]);
  const hooks = JSON.parse(stdout) as { provider: string; url: string; proof: string }[];
  expect(hooks.map(({ provider, proof }) => `${provider} ${proof}`)).toEqual([
    "hook secret",
    "ses signature",
    "postmark secret",
    "sendgrid secret",
    "mailgun secret",
  ]);
  const url = hooks[0]?.url ?? "";
  expect(url).toMatch(new RegExp(`^${served.baseUrl}/hooks/bounce/[\\w-]{43}$`));
  const unknown = await post(`${served.baseUrl}/nothing/here`);
  expect([await post(url), await post(`${url}x`)]).toEqual([[200, { ok: true }], unknown]);
  expect(unknown).toEqual([404, expect.anything()]);
  expect(await post(`${url}/nobody`)).toEqual(unknown);
  const left = await served.run(["unsubscribes", "list", "-o", "csv", "--columns", "email"]);
  expect(left.stdout).toBe("email\nok@x.co\n");
  const metrics = await (await fetch(`${served.baseUrl}/metrics`)).text();
  expect(metrics).toContain('surveyctl_reports_total{source="hook",outcome="unsubscribed"} 1\n');
  expect(metrics).toContain('surveyctl_hook_refusals_total{reason="secret"} 2\n');
  const rotated = await bounce(served, ["hook", "--rotate"]);
  expect(rotated.stdout).not.toContain(url);
  expect(await post(url)).toEqual(unknown);
});

test("when a provider's key is given in a file, then it is checked, kept and taken back, and shown nowhere", async () => {
  const { served } = await serveMailed();
  const file = path.join(state.folder, "mailgun.key");
  await writeFile(file, "key-0123456789\n");
  const proofs = async (args: readonly string[]): Promise<string[]> => {
    const { stdout, stderr } = await bounce(served, ["hook", ...args]);
    expect(stdout).not.toContain("key-0123456789");
    expect(stderr.includes("a key is kept, so unsigned reports are refused")).toBe(stdout.includes("refused"));
    return (JSON.parse(stdout) as { proof: string }[]).map(({ proof }) => proof);
  };
  expect(await proofs(["--mailgun-key", file])).toEqual(["refused", "signature", "refused", "refused", "signature"]);
  expect(await proofs(["--mailgun-key", ""])).toEqual(["secret", "signature", "secret", "secret", "secret"]);
  const refused = await bounce(served, ["hook", "--sendgrid-key", file]);
  expect([refused.status, JSON.parse(refused.stderr).error.message]).toEqual([
    2,
    `--sendgrid-key: ${file} is not a public key in base64`,
  ]);
  expect(await readFile(file, "utf8")).toBe("key-0123456789\n");
});

test.each<[string, readonly string[], RegExp]>([
  ["a folder that is not a Maildir", ["receive", "--dir", "."], /--dir: \. is not a Maildir: new\/ cannot be read/],
  [
    "a bounce address without a token",
    ["receive", "--bounce-address", "b@x.co"],
    /--bounce-address: must have \{token\}/,
  ],
  [
    "a key file that is not there",
    ["hook", "--mailgun-key", "nowhere"],
    /--mailgun-key: cannot read nowhere: no such file or directory/,
  ],
  [
    "a key file that holds something else",
    ["hook", "--postmark-login", import.meta.filename],
    /^error: --postmark-login: \S+ is not of the form user:password\n$/,
  ],
])("when there is %s, then that is said and nothing is done", async (_, args, message) => {
  const { served } = await serveMailed();
  const { status, stderr } = await served.run(["service", "bounce", ...args, "--data", served.dataFile]);
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
});
