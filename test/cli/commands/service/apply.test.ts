import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { openService } from "../../../../src/service/service.ts";
import { runServer } from "../../../../src/service/run-server.ts";
import { type Finished, runInProcess } from "../../../helpers/in-process.ts";

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="8" height="8"/></svg>';
const LOGO_BASE64 = Buffer.from(LOGO).toString("base64");
const HOOK = "https://example.com/hook?a=1#x";

const FILE = `settings:
  sender_name: "2024: off"
  from: ask@acme.example
  reply_to: ~
  footer: |
    Acme — “Shoes”
    - 1 High Street
  tz: Europe/Dublin
  soft_bounces: 3
  daily_limit: 500
throttle: 36h
reminder: {after: 5d, channel: email}
autopilot: {email: {frequency: 60d, first: now, days: "fri,mon", hours: 22-6}, sms: &off {active: false, frequency: 90s}}
brand: {name: "#no", color: "#0A7", logo: logo.svg}
texts:
  - {locale: de, subject: "Wie war es?", intro: ~}
  - {score: "9 - 10", thank_you_link: https://example.com/review, thank_you_link_text: Review us}
trends:
  - {name: "yes", where: {plan: pro, seats: 3, "on: off": "~"}}
  - {name: "yes", where: {plan: free}}
webhooks:
  - {url: "${HOOK}", scores: 0-6, events: [survey_response.created]}
  - {url: "http://127.0.0.1:9/x", format: slack, allow_private: true}
digests:
  - {target: boss@acme.example, every: friday, at: 9:30, tz: UTC}
  - {target: team@acme.example, every: monday}
`;

const PRINTED = `# Settings of project "default": surveyctl service apply FILE. Secrets are not among them.
settings:
  sender_name: "2024: off"
  from: ask@acme.example
  reply_to: null
  footer: |-
    Acme — “Shoes”
    - 1 High Street
  tz: Europe/Dublin
  soft_bounces: 3
  daily_limit: 500
throttle: 36h
reminder:
  after: 5d
  channel: email
autopilot:
  email:
    active: true
    frequency: 60d
    first: now
    days: mon,fri
    hours: 22-6
  sms:
    active: false
    frequency: 90s
    first: spread
    days: mon-fri
    hours: 9-18
brand:
  name: "#no"
  color: "#00aa77"
  logo: data:;base64,${LOGO_BASE64}
texts:
  - score: 9-10
    thank_you_link: https://example.com/review
    thank_you_link_text: Review us
  - locale: de
    subject: Wie war es?
questions: []
trends:
  - name: yes
    where:
      "on: off": "~"
      plan: pro
      seats: "3"
  - name: yes
    where:
      plan: free
webhooks:
  - url: ${HOOK}
    events:
      - survey_response.created
    format: json
    signature_header: X-Webhook-Signature
    allow_private: false
    insecure_http: false
    scores: 0-6
  - url: http://127.0.0.1:9/x
    events:
      - survey_response.created
      - survey_response.updated
      - unsubscribe.created
    format: slack
    signature_header: X-Webhook-Signature
    allow_private: true
    insecure_http: false
    scores: null
digests:
  - target: boss@acme.example
    every: friday
    at: 09:30
    tz: UTC
  - target: team@acme.example
    every: monday
    at: 08:00
    tz: null
`;

interface World {
  readonly folder: string;
  service(args: readonly string[], stdin?: string): Promise<Finished>;
  close(): Promise<void>;
}

async function openWorld(served: boolean): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-apply-"));
  const data = { dataFile: path.join(folder, "survey.db"), clock: systemClock, random: systemRandom };
  const service = await openService({ ...data, log: silentLog, publicUrl: null, rateLimit: null });
  for (const name of ["default", "other"]) await service.store.write((tx) => addProject(tx, name), { project: "all" });
  const server = served ? await runServer(service, { host: "127.0.0.1", port: 0, tls: null }) : null;
  if (server === null) await service.close();
  await writeFile(path.join(folder, "logo.svg"), LOGO);
  await writeFile(path.join(folder, "empty.png"), "");
  await writeFile(path.join(folder, "large.png"), Buffer.alloc(2_000_000));
  await writeFile(path.join(folder, "survey.yaml"), FILE);
  return {
    folder,
    service: (args, stdin = "") =>
      runInProcess({ args: ["service", ...args], stdin, env: { SURVEYCTL_DATA: data.dataFile } }),
    close: async () => {
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe.each([
  ["not served", false],
  ["served", true],
])("on a data file that is %s", (_, served) => {
  let world: World;
  let file: string;
  beforeAll(async () => {
    world = await openWorld(served);
    file = path.join(world.folder, "survey.yaml");
  });
  afterAll(() => world.close());

  it("when it is a dry run, then the difference is shown and nothing changes", async () => {
    const before = await world.service(["settings", "-o", "yaml"]);
    const tried = await world.service(["apply", file, "--dry-run"]);
    expect([tried.status, tried.stderr]).toEqual([0, "39 settings would change. Nothing was changed.\n"]);
    expect(tried.stdout.split("\n").slice(0, 6)).toEqual([
      "change\tthrottle\t30d\t36h",
      "change\treminder.after\toff\t5d",
      "change\treminder.channel\tany\temail",
      "add\tsettings.sender_name\t\t2024: off",
      "add\tsettings.from\t\task@acme.example",
      "add\tsettings.footer\t\tAcme — “Shoes”\\n- 1 High Street",
    ]);
    expect(await world.service(["settings", "-o", "yaml"])).toEqual(before);
  });

  it("when a file is applied, then what is printed is that file, whose apply changes nothing", async () => {
    const applied = await world.service(["apply", file, "--json"]);
    const rows = JSON.parse(applied.stdout) as { key: string; to: string }[];
    const secrets = rows.filter(({ key }) => key.endsWith(".secret"));
    expect([applied.status, rows.length, secrets]).toEqual([
      0,
      41,
      [HOOK, "http://127.0.0.1:9/x"].map((url) => ({
        change: "add",
        key: `webhooks[${JSON.stringify(url)}].secret`,
        from: null,
        to: expect.stringMatching(/^whsec_/),
      })),
    ]);
    const printed = await world.service(["settings", "-o", "yaml"]);
    expect(printed).toEqual({ status: 0, stdout: PRINTED, stderr: "", screen: PRINTED });
    const nothing = { status: 0, stdout: "", stderr: "Nothing to change.\n" };
    expect(await world.service(["apply", "-"], printed.stdout)).toMatchObject(nothing);
    expect(await world.service(["apply", file])).toMatchObject(nothing);
    expect(await world.service(["apply", "-"], "throttle: 36h\n")).toMatchObject(nothing);
    expect(await world.service(["apply", "-", "--project", "other"], printed.stdout)).toMatchObject({ status: 0 });
    const other = await world.service(["settings", "-o", "yaml", "--project", "other"]);
    expect(other.stdout).toBe(PRINTED.replace('"default"', '"other"'));
  });

  it("when keys and rows differ, then those alone change, and a webhook keeps its number", async () => {
    const before = await world.service(["webhook", "list", "--columns", "id,url,scores"]);
    const wanted = `brand: {color: ~}\ntexts: [{locale: de, subject: Na?}]\ntrends: []\nwebhooks: [{url: "${HOOK}", scores: ~}]\n`;
    const { stdout } = await world.service(["apply", "-", "--yes", "--columns", "change,key,from"], wanted);
    const events = '["survey_response.created","survey_response.updated","unsubscribe.created"]';
    expect(stdout.split("\n").map((line) => line.split("\t"))).toEqual([
      ["remove", "brand.color", "#00aa77"],
      ["remove", 'texts["9-10"].thank_you_link', "https://example.com/review"],
      ["remove", 'texts["9-10"].thank_you_link_text', "Review us"],
      ["change", 'texts["de"].subject', "Wie war es?"],
      ["remove", 'trends["yes"].where', '{"on: off":"~","plan":"pro","seats":"3"}'],
      ["remove", 'trends["yes"#2].where', '{"plan":"free"}'],
      ["remove", `webhooks["${HOOK}"].scores`, "0-6"],
      ["remove", 'webhooks["http://127.0.0.1:9/x"].events', events],
      ["remove", 'webhooks["http://127.0.0.1:9/x"].format', "slack"],
      ["remove", 'webhooks["http://127.0.0.1:9/x"].signature_header', "X-Webhook-Signature"],
      ["remove", 'webhooks["http://127.0.0.1:9/x"].allow_private', "true"],
      ["remove", 'webhooks["http://127.0.0.1:9/x"].insecure_http', "false"],
      [""],
    ]);
    const after = await world.service(["webhook", "list", "--columns", "id,url,scores"]);
    expect(after.stdout).toBe(`${before.stdout.split("\n")[0]?.replace("0-6", "") ?? ""}\n`);
  });
});

describe("a file that leaves something out", () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(true);
    await world.service(["apply", path.join(world.folder, "survey.yaml")]);
    await world.service(["question", "add", "Why?", "--id", "why", "--type", "free_response"]);
  });
  afterAll(() => world.close());

  const LESS =
    "throttle: 10d\ntexts: [{locale: de, subject: Neu}]\nquestions: []\ntrends: []\nwebhooks: []\ndigests: []\n";
  const QUESTION =
    'Remove texts["9-10"].thank_you_link, texts["9-10"].thank_you_link_text, questions["why"] (it is retired), ' +
    `trends["yes"], trends["yes"#2], webhooks["${HOOK}"] with its secret, ` +
    'webhooks["http://127.0.0.1:9/x"] with its secret, digests["boss@acme.example"], digests["team@acme.example"] ' +
    "from project default?";

  const only = (names: string): Promise<Finished> =>
    world.service(["apply", "-", "--only", names, "--columns", "change,key"], LESS);

  it("without a terminal lists the removals, asks for --yes, and changes nothing", async () => {
    const before = await world.service(["settings", "-o", "yaml"]);
    expect(await world.service(["apply", "-"], LESS)).toMatchObject({
      status: 2,
      stdout: "",
      stderr:
        "error: service apply requires confirmation, and there is no terminal to ask on; pass --yes\n" +
        `hint: it would ask: ${QUESTION}\n`,
    });
    expect(await world.service(["settings", "-o", "yaml"])).toEqual(before);
  });

  it("on a terminal asks, and a no changes nothing", async () => {
    const file = path.join(world.folder, "less.yaml");
    await writeFile(file, LESS);
    const before = await world.service(["settings", "-o", "yaml"]);
    const env = { SURVEYCTL_DATA: path.join(world.folder, "survey.db") };
    const declined = await runInProcess({ args: ["service", "apply", file], env, columns: 2000, stdin: "n\n" });
    expect(declined).toMatchObject({ status: 2, stdout: "" });
    expect(declined.stderr).toContain(`${QUESTION} [y/N] `);
    expect(await world.service(["settings", "-o", "yaml"])).toEqual(before);
  });

  it("with --only touches the named sections alone, and asks only for their removals", async () => {
    expect(await only("throttle")).toMatchObject({ status: 0, stdout: "change\tthrottle\n" });
    expect((await only("trends")).stderr).toContain('Remove trends["yes"], trends["yes"#2] from project default?\n');
    expect(await only("throttle,brand")).toMatchObject({ status: 0, stdout: "", stderr: "Nothing to change.\n" });
    expect((await only("webhook")).stderr).toMatch(/^error: --only: .*webhook.*\nhint: did you mean webhooks\?\n$/);
  });

  it("with --yes removes what is left out, and a change alone is never asked about", async () => {
    expect(
      await world.service(
        ["apply", "-"],
        "texts: [{locale: de, subject: Neu}, {score: 9-10, thank_you_link: https://example.com/review, thank_you_link_text: Rate us}]",
      ),
    ).toMatchObject({ status: 0 });
    expect(await world.service(["apply", "-", "--yes"], LESS)).toMatchObject({ status: 0 });
    expect((await world.service(["settings", "-o", "yaml"])).stdout).toContain("webhooks: []\ndigests: []\n");
  });

  it("on a terminal says only that there is nothing to change", async () => {
    const file = path.join(world.folder, "same.yaml");
    await writeFile(file, "trends: []\n");
    const env = { SURVEYCTL_DATA: path.join(world.folder, "survey.db") };
    const { screen } = await runInProcess({ args: ["service", "apply", file], env, columns: 80 });
    expect(screen).toBe("Nothing to change.\n");
  });
});

describe("a file that is wrong", () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(true);
  });
  afterAll(() => world.close());

  it("when it is not UTF-8, then it is refused as a whole", async () => {
    const file = path.join(world.folder, "latin.yaml");
    await writeFile(file, Buffer.from("settings:\n  sender_name: Jos\u00e9\n", "latin1"));
    const { status, stdout, stderr } = await world.service(["apply", file, "--dry-run"]);
    expect([status, stdout, stderr]).toEqual([2, "", `error: ${file} is not UTF-8 text\n`]);
  });

  it.each([
    ["throttle: 3 parsecs", '1:11: throttle "3 parsecs" is not a duration with a unit, such as 90d or 12h, or off'],
    ["throttle: 90", '1:11: throttle "90" is not a duration with a unit, such as 90d or 12h, or off'],
    [
      "autopilot:\n  sms: {frequency: 90}",
      '2:20: autopilot.sms.frequency "90" is not a duration with a unit, such as 90d or 12h',
    ],
    ["throttle:", "1:10: throttle must be a text"],
    ["throttles: 3d", "1:1: throttles is not a setting\nhint: did you mean throttle?"],
    ["- a", "1:1: must be a map of keys and values"],
    [
      "brand:\n  name: A\n  logo: [x",
      "4:1: Flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    ["throttle: 1d\nthrottle: 2d", "2:1: throttle is there twice"],
    ["settings:\n  tz: Mars/Base", "2:7: settings.tz is not a time zone"],
    ["settings: {footer: 7}", "1:20: settings.footer must be a text\nhint: put it in quotes"],
    ["settings: {soft_bounces: 9}", "1:26: settings.soft_bounces must be a whole number from 1 to 5"],
    ["autopilot:\n  sms:\n    active: yes", "3:13: autopilot.sms.active must be true or false"],
    ["autopilot:\n  sms: {frequency: 0}", "2:20: autopilot.sms.frequency must be from 1 second to 100 years"],
    [
      "autopilot:\n  sms: {days: never}",
      '2:15: autopilot.sms.days must be days such as mon-fri or mon,wed,fri, or "any"',
    ],
    ["autopilot:\n  sms: {first: soon}", '2:16: autopilot.sms.first "soon" is not one of spread, now'],
    ["reminder: {after: 10s}", "1:19: reminder.after must be from 1 hour to 30 days, such as 5d, or off"],
    ["settings: {daily_limit: 0}", "1:25: settings.daily_limit must be a whole number from 1"],
    ["autopilot: {post: {}}", "1:13: autopilot.post is not a setting\nhint: the keys are email, sms"],
    ["brand: {logo: gone.svg}", "1:15: brand.logo cannot be read: no such file or directory"],
    ["brand: {logo: empty.png}", "1:15: brand.logo is an empty file"],
    ["brand: {logo: large.png}", "1:15: brand.logo is too large (maximum is 32 KB)"],
    ["brand: {logo: survey.yaml}", "1:15: brand.logo is not a PNG, JPEG or SVG file"],
    ["brand: {color: '#777'}", expect.stringContaining("1:16: brand.color cannot carry readable text")],
    [
      "texts: [{subject: a, score: 9-10}]",
      "1:19: texts.0.subject cannot depend on the score: it is shown before there is one",
    ],
    ["texts: [{locale: xx}]", expect.stringContaining('1:18: texts.0.locale "xx" is not one of ar, bg, ')],
    [
      "texts:\n  - {score: 8-10, thank_you: a}\n  - {score: 9, thank_you: b}",
      "3:13: texts.1.score overlaps 8-10, which has texts of its own",
    ],
    ["texts:\n  - {intro: a}\n  - {subject: b}", "3:5: texts.1.locale has other texts for all scores"],
    ["trends: {}", "1:9: trends must be a list\nhint: [] is an empty one"],
    ["trends:\n  - name: Pro\n    where: {}", "3:12: trends.0.where can't be blank"],
    ["trends:\n  - name: Pro", "2:5: trends.0 has no where"],
    [
      "webhooks:\n  - url: http://example.com/",
      "2:10: webhooks.0.url is not allowed: http:// would send answers unencrypted",
    ],
    [
      "webhooks:\n  - url: https://e.com/\n    scores: 8-3",
      expect.stringContaining('3:13: webhooks.0.scores "8-3" is not'),
    ],
    [
      "webhooks:\n  - url: https://e.com/\n    events: [a]",
      expect.stringContaining('3:14: webhooks.0.events.0 "a" is not one of'),
    ],
    ["digests:\n  - target: a@x.co", "2:5: digests.0 has no every"],
    [
      "digests:\n  - {target: a@x.co, every: monday, at: 25:00}",
      '2:41: digests.0.at "25:00" is not a time of day such as 08:00',
    ],
    ["digests:\n  - {target: a@x.co, every: monday, tz: Mars}", "2:41: digests.0.tz is not a time zone"],
  ])("when it says %j, then one sentence tells the place, and nothing changes", async (wrong, sentence) => {
    const file = path.join(world.folder, "wrong.yaml");
    // The valid settings before the mistake aren't applied either.
    await writeFile(file, wrong.startsWith("- ") || wrong.startsWith("trends") ? wrong : `${wrong}\ntrends: []\n`);
    const { status, stdout, stderr } = await world.service(["apply", file]);
    expect([status, stdout, stderr.trimEnd().replace(`error: ${file}:`, "")]).toEqual([2, "", sentence]);
    const { stdout: printed } = await world.service(["settings", "-o", "yaml"]);
    expect(printed).toContain("throttle: 30d\n");
    expect(printed).toMatch(/trends: \[\]\nwebhooks: \[\]\ndigests: \[\]\n$/);
  });
});
