import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startHookReceiver } from "../../../helpers/hook-receiver.ts";
import { runInProcess } from "../../../helpers/in-process.ts";
import { startServe } from "../../../helpers/serve.ts";
import { startRefused } from "./refused-starts.ts";

const place = { folder: "" };
beforeAll(async () => {
  place.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-serve-sms-"));
  await writeFile(path.join(place.folder, "header.txt"), "Authorization: Bearer s3cret-of-the-gateway\n");
});
afterAll(() => rm(place.folder, { recursive: true, force: true }));

const ADA = "+4917012345678";

it("when a person is added for SMS, then the gateway gets a text, and the answer to it is a response", async () => {
  const gateway = await startHookReceiver();
  const header = path.join(place.folder, "header.txt");
  const sms = ["--sms-gateway", `${gateway.url}/sms`, "--sms-header-file", header, "--sms-quiet", "off"];
  const served = await startServe({ args: [...sms, "--sms-mode", "conversation", "--log-format", "json"] });
  const run = async (...args: readonly string[]): Promise<string> => (await served.run(args)).stdout;
  const data = ["--data", served.dataFile];
  const { url } = JSON.parse(await run("service", "sms", "hook", ...data, "--json")) as { url: string };
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hooks\/sms\/[\w-]{43}$/);
  await run("people", "add", "--phone", ADA, "--channel", "sms");
  await gateway.until("/sms", 1);
  await run("service", "throttle", "off", ...data);
  const listed = () => run("service", "delivery", "list", ...data, "-o", "csv", "--columns", "phone_number,state");
  await expect.poll(listed).toBe(`phone_number,state\n${ADA},sent\n`);
  const post = async (text: string): Promise<number> => {
    const body = new URLSearchParams({ from: ADA, text, id: text });
    return (await fetch(url, { method: "POST", body })).status;
  };
  expect(await post("9 great service")).toBe(204);
  // STOP cancels a thank-you text that is still waiting.
  await gateway.until("/sms", 2);
  expect(await post("STOP")).toBe(204);
  const columns = ["-o", "csv", "--columns", "score,comment"];
  expect(await run("responses", "list", ...columns)).toBe("score,comment\n9,great service\n");
  await gateway.until("/sms", 3);
  expect(gateway.on("/sms").map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill("Bearer s3cret-of-the-gateway"),
  );
  expect(await run("people", "add", "--phone", ADA, "--channel", "sms", "--json")).toContain(
    '"survey_scheduled_at":null',
  );
  const metrics = await (await fetch(`${served.baseUrl}/metrics`)).text();
  expect(metrics.match(/^surveyctl_sms_\w+(?:\{outcome="(?:score|stop|sent)"\})? .*$/gm)).toEqual([
    "surveyctl_sms_segments_total 3",
    'surveyctl_sms_received_total{outcome="score"} 1',
    'surveyctl_sms_received_total{outcome="stop"} 1',
    'surveyctl_sms_replies_total{outcome="sent"} 2',
  ]);
  const { stderr } = await served.stop();
  expect(stderr).not.toMatch(/s3cret|4917012345678|great service|hooks\/sms\/[\w-]{20}/);
  await gateway.close();
});

const GATEWAY = "https://g.example";

it.each<readonly string[]>([
  ["--sms-url", "https://s.example"],
  ["--local-links"],
  ["--public-url", "https://x.example"],
])("when serve texts links and is given %j, then it starts", async (...args) => {
  const served = await startServe({ args: ["--sms-gateway", GATEWAY, ...args] });
  expect((await served.stop()).status).toBe(0);
});

it("serve names the projects without a time zone, and starts", async () => {
  const served = await startServe({ args: ["--sms-gateway", GATEWAY, "--local-links"] });
  await served.run(["service", "settings", "--tz", "Europe/Berlin", "--data", served.dataFile]);
  const shown = await served.run(["service", "autopilot", "-o", "tsv", "--data", served.dataFile]);
  expect(shown.stdout).toContain("tz\tEurope/Berlin\n");
  const { stderr, status } = await served.stop();
  expect(stderr).toContain("no time zone is set for project default: its days and hours are UTC");
  expect(status).toBe(0);
});

const TWILIO = ["--sms-gateway", "https://g.example", "--sms-format", "twilio"];

/** Some have the default value that they would get with a gateway. */
const GATEWAY_ONLY: readonly (readonly [flag: string, value: string])[] = [
  ["--sms-format", "twilio"],
  ["--sms-header", "Authorization: hunter2"],
  ["--sms-header-file", "missing"],
  ["--sms-from", "+15550100"],
  ["--sms-field", "to=Dest"],
  ["--sms-mode", "link"],
  ["--sms-countries", "+1"],
  ["--sms-daily", "200"],
  ["--sms-max-segments", "2"],
  ["--sms-quiet", "off"],
  ["--sms-url", "https://s.example"],
];

it.each<[readonly string[], string]>([
  [
    ["--sms-gateway", GATEWAY],
    "--public-url is required with an SMS gateway: links in texts would only work on this machine\n" +
      "hint: use --public-url https://survey.example.com, --sms-mode conversation for texts without links, " +
      "or --local-links to try it out on this machine\n",
  ],
  [
    ["--sms-gateway", GATEWAY, "--smtp", "smtp://h", "--smtp-from", "a@x.org"],
    "--public-url is required with a mail server: ",
  ],
  [
    ["--sms-gateway", GATEWAY, "--sms-url", "https://s.example", "--smtp", "smtp://h", "--smtp-from", "a@x.org"],
    "--public-url is required with a mail server: ",
  ],
  [["--sms-gateway", "gateway"], "--sms-gateway: must be a URL such as https://gateway.example.com/messages"],
  [["--sms-gateway", "https://me:hunter2@g.example"], "--sms-gateway: must not contain a user or password"],
  [
    ["--sms-gateway", "http://g.example/?key=hunter2"],
    "--sms-gateway: refusing to send texts and credentials over plain http to g.example",
  ],
  [["--sms-gateway", "https://g.example", "--sms-header", "hunter2"], "--sms-header: must be one header"],
  [
    ["--sms-gateway", "https://g.example", "--sms-header-file", "none"],
    "--sms-header-file: cannot read none: no such file or directory",
  ],
  [["--sms-gateway", "https://g.example", "--sms-header", "A: b", "--sms-header-file", "f"], "cannot be used together"],
  [
    ["--sms-gateway", "https://g.example", "--sms-countries", "49"],
    '--sms-countries: "49" is not a prefix such as +49',
  ],
  [
    ["--sms-gateway", "https://g.example", "--sms-quiet", "21-24"],
    '--sms-quiet: "21-24" is not two hours such as 21-8',
  ],
  [["--sms-gateway", "https://g.example", "--sms-field", "tu=Dest"], '--sms-field: "tu" is not one of to, text, from'],
  [["--sms-gateway", "https://g.example", "--sms-daily", "0"], "--sms-daily: "],
  [TWILIO, "--sms-format twilio requires --sms-from"],
  [[...TWILIO, "--sms-from", "+15550100"], "--sms-format twilio requires --sms-countries"],
  [[...TWILIO, "--sms-from", "+15550100", "--sms-countries", "+1"], "--sms-format twilio requires --sms-header-file"],
  [
    ["--sms-gateway", GATEWAY, "--sms-mode", "conversation", "--sms-from", "Acme"],
    '--sms-mode conversation: nobody can text back to "Acme"\n' +
      "hint: use --sms-from with a phone number, or --sms-mode link\n",
  ],
  [["--sms-mode", "chat"], '--sms-mode: "chat" is not one of link, conversation'],
  [["--sms-daily", "x"], "--sms-daily: "],
  [["--sms-field", "tu=Dest"], '--sms-field: "tu" is not one of to, text, from'],
  ...GATEWAY_ONLY.map<[readonly string[], string]>(([flag, value]) => [
    [flag, value],
    `${flag} requires --sms-gateway\n`,
  ]),
])("when serve is given %j, then it does not start", async (args, sentence) => {
  expect(await startRefused(place.folder, args, sentence)).toEqual([2, sentence, false]);
});

it.each([
  ["--twilio-token", "is not an auth token"],
  ["--vonage-secret", "is not a signature secret"],
  ["--telnyx-key", "is not a public key in base64"],
])("when the file of %s holds something else, then it is named and nothing is changed", async (flag, problem) => {
  const [file, data] = [path.join(place.folder, "tok"), path.join(place.folder, "hook.db")];
  await writeFile(file, "tok\n");
  const { status, stdout, stderr } = await runInProcess({
    args: ["service", "sms", "hook", flag, file, "--rotate", "--data", data],
  });
  expect([status, stdout, stderr]).toEqual([2, "", `error: ${flag}: ${file} ${problem}\n`]);
  expect(existsSync(data)).toBe(false);
});
