import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { dkimRecord, readDkimKey } from "../../../../src/service/delivery/mail/dkim.ts";
import { dkimProblem } from "../../../helpers/dkim-verifier.ts";
import { runInProcess, startInside } from "../../../helpers/in-process.ts";
import { startServe, type Served } from "../../../helpers/serve.ts";
import { RSA_PEM, startPlanServer, type SmtpPlanServer } from "../../../helpers/smtp-plan-server.ts";
import { readMail } from "../../../service/delivery/read-mail.ts";
import { startRefused } from "./refused-starts.ts";

const place = { folder: "", key: "" };
beforeAll(async () => {
  place.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-serve-mail-"));
  place.key = path.join(place.folder, "dkim.pem");
  await writeFile(place.key, RSA_PEM);
});
afterAll(() => rm(place.folder, { recursive: true, force: true }));

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

const SENDER = "Acme & Söhne <surveys@example.com>";

async function serveWith(args: readonly string[]): Promise<{ mail: SmtpPlanServer; served: Served }> {
  const mail = await startPlanServer({ credentials: { user: "me", password: "s3cret-password" } });
  open.push(mail.stop);
  const url = path.join(place.folder, "smtp.txt");
  await writeFile(url, `smtp://me:s3cret-password@127.0.0.1:${mail.port}\n`);
  const served = await startServe({ args: ["--smtp-file", url, "--smtp-from", SENDER, ...args] });
  open.push(() => served.stop());
  return { mail, served };
}

it("when a person is added, then the mail server gets a signed mail, once, and operators see what it said", async () => {
  const { mail, served } = await serveWith(
    `--smtp-reply-to help@example.com --bounce-address bounce+{token}@example.com --dkim-key ${place.key}
     --dkim-selector s1 --public-url https://survey.example.com`.split(/\s+/),
  );
  for (const email of ["ok@example.org", "550-5.1.1@example.org"])
    expect((await served.run(["people", "add", "--email", email])).status).toBe(0);
  await expect.poll(() => mail.attempts.size).toBe(2);
  await expect.poll(() => mail.accepted.length).toBe(1);
  const [{ from, text } = { from: "", text: "" }] = mail.accepted;
  expect(from).toMatch(/^bounce\+[\w-]{22}@example\.com$/);
  expect(readMail(text).headers["from"]).toBe("Acme & Söhne <surveys@example.com>");
  expect(text).toMatch(/^Reply-To: help@example\.com\r$/m);
  const key = readDkimKey(await readFile(place.key, "utf8"), { domain: "example.com", selector: "s1" });
  expect(dkimProblem(text, dkimRecord(key))).toBeNull();
  const listed = async (): Promise<string> =>
    (
      await served.run([
        "service",
        "delivery",
        "list",
        "--data",
        served.dataFile,
        "-o",
        "csv",
        "--columns",
        "email,state",
      ])
    ).stdout;
  await expect.poll(listed).toBe("email,state\n550-5.1.1@example.org,bounced\nok@example.org,sent\n");
  const { stdout } = await served.run(["bounces", "list", "-o", "csv", "--columns", "email"]);
  expect(stdout).toBe("email\n550-5.1.1@example.org\n");
});

it("when only some addresses are allowed, then mail to others is held", async () => {
  const { mail, served } = await serveWith(["--local-links", "--only-to", "*@example.org"]);
  for (const email of ["ok@EXAMPLE.org", "ok@example.orgs", "ok@example.com"])
    await served.run(["people", "add", "--email", email]);
  await expect.poll(() => mail.accepted.map(({ to }) => to)).toEqual(["ok@example.org"]);
  const list = ["service", "delivery", "list", "--data", served.dataFile, "--state", "held", "-o", "csv"];
  await expect
    .poll(async () => (await served.run([...list, "--columns", "email"])).stdout)
    .toBe("email\nok@example.com\nok@example.orgs\n");
});

it("when the login is refused, then the log says so without the password", async () => {
  const { mail, served } = await serveWith(["--local-links", "--log-format", "json"]);
  Object.assign(mail.faults, { auth: { code: 535, text: "5.7.8 s3cret-password is wrong for ok@example.org" } });
  await served.run(["people", "add", "--email", "ok@example.org"]);
  await expect.poll(() => mail.logins()).toBe(3);
  open.pop();
  const { stderr } = await served.stop();
  const stopped = stderr.split("\n").find((line) => line.includes("mail_stopped")) ?? "{}";
  const { time: _time, next_try: _next, server, ...fields } = JSON.parse(stopped) as Record<string, unknown>;
  expect(fields).toEqual({
    level: "warn",
    event: "mail_stopped",
    msg: "mail stopped",
    stage: "auth",
    code: 535,
    enhanced_code: "5.7.8",
    reason: "*** is wrong for <address>",
    needs_resume: false,
  });
  expect(server).toBe(`smtp://me:***@127.0.0.1:${mail.port}`);
  expect(stderr).not.toContain("s3cret");
});

const warned = (stderr: string) =>
  stderr
    .split("\n")
    .filter((line) => line.includes("dkim_not_aligned"))
    .map((line) => {
      const { time: _time, ...fields } = JSON.parse(line) as Record<string, unknown>;
      return fields;
    });

const WARNING = {
  level: "warn",
  event: "dkim_not_aligned",
  msg: "project default sends from other.example, which the DKIM signature of mail.example.com does not cover",
  project: "default",
  sender_domain: "other.example",
  dkim_domain: "mail.example.com",
};

it("when a project's own sender is not of the domain that signs, then the log says so once, and mail goes out", async () => {
  const mail = await startPlanServer();
  open.push(mail.stop);
  const data = path.join(place.folder, "aligned.db");
  const args = `serve --data ${data} --port 0 --local-links --log-format json --smtp smtp://127.0.0.1:${mail.port}
    --smtp-from us@example.com --dkim-key ${place.key} --dkim-selector s1 --dkim-domain mail.example.com`.split(/\s+/);
  const key = { SURVEYCTL_API_KEY: "test-key-of-the-service" };
  const serve = async () => {
    const running = startInside({ args, home: place.folder, env: key });
    const [, url = ""] = await running.saying(/^listening on (http\S+)$/m);
    const add = (email: string) =>
      runInProcess({ args: ["people", "add", "--email", email], env: { ...key, SURVEYCTL_BASE_URL: url } });
    return { add, stop: async () => (running.child.kill("SIGTERM"), (await running.ended).stderr) };
  };
  const settle = (from: string) => runInProcess({ args: ["service", "settings", "--from", from, "--data", data] });
  const first = await serve();
  await settle("s@other.example");
  for (const email of ["ok+1@example.org", "ok+2@example.org"]) await first.add(email);
  await expect.poll(() => mail.accepted.length).toBe(2);
  const warnings = [warned(await first.stop())];
  warnings.push(warned(await (await serve()).stop()));
  await settle("s@example.com");
  warnings.push(warned(await (await serve()).stop()));
  expect(warnings).toEqual([[WARNING], [WARNING], []]);
});

const KEY = path.join(import.meta.dirname, "../../../fixtures/tls/rsa-key.pem");

const HINT = "hint: use --smtp URL or SURVEYCTL_SMTP; use --sms-gateway URL or SURVEYCTL_SMS_GATEWAY\n";

it.each<[readonly string[], string]>([
  [["--smtp", "smtp://h"], "--smtp requires --smtp-from"],
  [
    ["--smtp", "smtp://h", "--smtp-from", "a@x.org"],
    "--public-url is required with a mail server: links in mail would only work on this machine\n" +
      "hint: use --public-url https://survey.example.com, or --local-links to try it out on this machine\n",
  ],
  [["--local-links", "--public-url", "https://x.org"], "--local-links and --public-url cannot be used together"],
  [["--smtp", "smtp://h", "--smtp-file", "f"], "--smtp and --smtp-file cannot be used together"],
  [["--smtp-file", "missing"], "--smtp-file: cannot read missing: no such file or directory"],
  [
    ["--smtp", "smtp://u:hunter2#@h", "--smtp-from", "a@x.org"],
    "--smtp: the SMTP URL is not a valid URL; write special characters of the password as %XX, such as # as %23",
  ],
  [["--smtp", "smtp://h", "--smtp-from", "us"], '--smtp-from: "us" is not an email address'],
  [["--smtp", "smtp://h", "--smtp-from", "Us <us>"], '--smtp-from: "us" is not an email address'],
  [["--smtp", "smtp://h", "--smtp-from", "a@x.org", "--smtp-rate", "fast"], '--smtp-rate: "fast" is not a limit'],
  [["--smtp", "smtp://h", "--smtp-from", "a@x.org", "--smtp-connections", "0"], "--smtp-connections: "],
  [["--smtp", "smtp://h", "--smtp-from", "a@x.org", "--dkim-key", "k"], "--dkim-key requires --dkim-selector"],
  [["--smtp", "smtp://h", "--smtp-from", "a@x.org", "--dkim-selector", "s"], "--dkim-selector requires --dkim-key"],
  [
    [
      "--smtp",
      "smtp://h",
      "--smtp-from",
      "a@x.org",
      "--dkim-domain",
      "y.org",
      "--dkim-selector",
      "s",
      "--dkim-key",
      KEY,
    ],
    "--dkim-domain y.org does not cover the sender a@x.org",
  ],
  [
    ["--smtp", "smtp://h", "--smtp-from", "a@x.org", "--on-unknown", "x"],
    '--on-unknown: "x" is not one of hold, resend',
  ],
  [["--smtp", "smtp://h", "--smtp-from", "a@x.org", "--max-age", "x"], '--max-age: "x" is not a duration'],
  [["--smtp-rate", "fast"], '--smtp-rate: "fast" is not a limit'],
  [["--smtp-connections", "0"], "--smtp-connections: "],
  [["--on-unknown", "x"], '--on-unknown: "x" is not one of hold, resend'],
  [["--max-age", "x"], '--max-age: "x" is not a duration'],
  // Flags count as given even with their default value.
  [["--smtp-rate", "10/s"], "--smtp-rate requires --smtp\nhint: use --smtp URL or SURVEYCTL_SMTP\n"],
  [["--smtp-connections", "2"], "--smtp-connections requires --smtp\n"],
  [["--smtp-from", "a@x.org", "--dkim-key", "missing", "--dkim-selector", "s"], "--dkim-key requires --smtp\n"],
  [["--dkim-selector", "s"], "--dkim-selector requires --smtp\n"],
  [["--dkim-domain", "x.org"], "--dkim-domain requires --smtp\n"],
  [["--only-to", "*@x.org"], `--only-to requires --smtp or --sms-gateway\n${HINT}`],
])("when serve is given %j, then it does not start", async (args, sentence) => {
  expect(await startRefused(place.folder, args, sentence)).toEqual([2, sentence, false]);
});

it("when the mail server is named by a variable, then what needs one is taken", async () => {
  const mail = await startPlanServer();
  open.push(mail.stop);
  const env = { SURVEYCTL_SMTP: `smtp://127.0.0.1:${mail.port}` };
  const args =
    "--local-links --smtp-from a@x.org --smtp-rate 5/s --only-to *@example.org --max-age 1d --on-unknown resend".split(
      " ",
    );
  const served = await startServe({ args, env });
  open.push(() => served.stop());
  await served.run(["people", "add", "--email", "ok@example.org"]);
  await expect.poll(() => mail.accepted.map(({ to }) => to)).toEqual(["ok@example.org"]);
});

it("when there is no mail server, then the outbox's messages still come from the given sender", async () => {
  const sender = ["--smtp-from", "a@x.org", "--smtp-reply-to", "r@x.org", "--bounce-address", "b+{token}@x.org"];
  const args = [...sender, "--max-age", "1d", "--on-unknown", "resend"];
  const served = await startServe({ args });
  open.push(() => served.stop());
  await served.run(["people", "add", "--email", "ok@example.org"]);
  const outbox = path.join(served.folder, "outbox");
  const messages = async (): Promise<string[]> =>
    (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith(".eml"));
  await expect.poll(async () => (await messages()).length).toBe(1);
  const { headers } = readMail(await readFile(path.join(outbox, (await messages())[0] ?? ""), "utf8"));
  expect([headers["from"], headers["reply-to"]]).toEqual(["a@x.org", "r@x.org"]);
});
