/** Runs every remote-capable `service` command locally and through a profile; the output must be the same. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOperations } from "../../../src/service/operations/index.ts";
import { answering, type HookReceiver, startHookReceiver } from "../../helpers/hook-receiver.ts";
import { runInside } from "../../helpers/in-process.ts";
import { type Served, startServe } from "../../helpers/serve.ts";
import { type SmtpPlanServer, startPlanServer } from "../../helpers/smtp-plan-server.ts";

/** Arguments of `surveyctl service`, in an order that works. */
const STORY = `
key add --name ci --expires 90d --columns id,name
key add --name ci
key add --expires 0d
key list --columns id,name,access
key list --count
key rotate ci --revoke-after 24h --columns id,previous
key revoke {key}
key revoke {key} --yes
key revoke {key} --yes
throttle
throttle 90d
throttle soon
reminder 5d
reminder 1s
autopilot --platform sms --inactive --frequency 60d --days mon-fri
autopilot --days sometimes
settings --sender-name Acme --tz Europe/Berlin
settings --tz Mars
settings -o yaml
apply survey.yaml --dry-run
apply survey.yaml
apply survey.yaml --yes
apply survey.yaml --yes -o json
brand set --name Acme --color #0a7
brand set
brand show -o json
texts set --subject How? --locale de
texts set --score 12
texts show
link add Shop --property store=lyon --columns id,name,properties
link add Shop --property store
link list --columns name
link remove {link} --yes
link remove {link} --yes
share add Board --segment plan,region --no-comments --columns id,name,segments,comments
share list --columns name,comments
share remove Board --yes
share remove Board --yes
trend add Pro --where plan=pro --where region=eu --columns id,name,where
trend add Pro --where plan=pro
trend list --columns name
trend remove {trend}
trend remove {trend} --yes -q
question add Easy? --type scale --scale 1-5 --to 0-6
question add Easy? --type scale --scale 5
question add Why? --type free_response --id why
question list
question list --columns id,nothing
question show q1 -o json
question show nothing
question move why --to 1
question move why --to 99
question text why --locale de Warum?
question retire why
digest add boss@example.com --every monday --at 16:30 --columns target,every,at,tz
digest add boss@example.com --every monday --at 25:00
digest list --columns target,state
digest preview --text
digest test boss@example.com {smtp}
digest test boss@example.com
digest remove boss@example.com
digest remove boss@example.com
webhook add {receiver}/hook --allow-private --events survey_response.created --columns id,url
webhook add http://127.0.0.1:9/hook
webhook add {receiver}/hook --allow-private --events nothing
webhook list --columns id,url,events
webhook test {webhook} --columns id,delivered,status
webhook rotate {webhook} --overlap 0 --columns id,url
webhook rotate {webhook} --overlap never
webhook enable {webhook} --columns id,state
webhook redeliver {webhook} --since 2d
webhook deliveries {webhook} --columns event_type,state
webhook deliveries 7
webhook remove {webhook} --yes
survey preview --locale fr --text
survey preview nobody@example.com
delivery list --columns id,state
delivery list --since 7d --by day --columns period,surveys
delivery show ada@example.com --columns email,explanation
delivery show nobody@example.com
delivery resolve 999 sent
delivery resolve 999 lost
delivery test you@example.com {smtp} --columns outcome,to
bounce list
bounce clear ada@example.com
pause --project default --columns project
resume --project default --columns project -o json
retention
retention --responses 5y
retention --responses 5y --anonymize --dry-run
retention --responses 5y --anonymize
retention --responses 5y --anonymize --yes -o csv
retention --responses soon --delete
log --columns operation,what --limit 3
log --by nobody --count
log --operation key.* --all --columns operation,what
erase ada@example.com --dry-run
erase ada@example.com
erase ada@example.com --yes --columns people,responses
erase ada@example.com --yes
`
  .trim()
  .split("\n");

const SETTINGS = `settings:
  reply_to: a@example.com
trends: []
`;

const PATIENCE_MS = 300_000;

const state = { home: "", values: new Map<string, string>() };
let receiver: HookReceiver;
let mail: SmtpPlanServer;
const services: { local: Served; remote: Served } = {} as never;

beforeAll(async () => {
  state.home = await mkdtemp(path.join(tmpdir(), "surveyctl-both-ways-"));
  await writeFile(path.join(state.home, "survey.yaml"), SETTINGS);
  receiver = await startHookReceiver({ "/hook": answering(200) });
  mail = await startPlanServer();
  services.local = await startServe();
  services.remote = await startServe();
  for (const service of Object.values(services)) {
    await service.run(["people", "add", "--email", "ada@example.com", "--no-send"]);
    await service.run(["responses", "add", "--email", "ada@example.com", "--score", "9"]);
    await service.run(["service", "trend", "add", "Old", "--where", "plan=old", ...service.place]);
    const made = ["service", "key", "add", "--admin", "--name", "laptop", "--columns", "key", ...service.place];
    const { stdout } = await service.run(made);
    if (service !== services.remote) continue;
    const login = ["auth", "login", "--profile", "prod", "--base-url", service.baseUrl];
    await runInside({ args: login, home: state.home, stdin: stdout });
  }
  state.values.set("receiver", receiver.url);
  state.values.set("smtp", `--smtp smtp://127.0.0.1:${mail.port} --smtp-from us@example.com`);
}, PATIENCE_MS);
afterAll(async () => {
  await services.local.stop();
  await services.remote.stop();
  await receiver.close();
  await mail.stop();
  await rm(state.home, { recursive: true, force: true });
});

const WHERE = /^(?:note: |\{"note":")project default on \S+\n/gm;

function plain(text: string): string {
  return text
    .replaceAll(WHERE, "")
    .replaceAll(/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\dZ?)?)?\b/g, "TIME")
    .replaceAll(/\b\d{10}\b/g, "SECONDS")
    .replaceAll(/(?<=queued as |Delivered in )\d+/g, "N")
    .replaceAll(/(?<=http:\/\/127\.0\.0\.1:)\d+(?=[ /])/g, "PORT")
    .replaceAll(/\b[\w-]{32,}\b/g, "SECRET");
}

it(
  "tells the same story with --data and with a profile",
  async () => {
    const seen = new Set<string>();
    for (const line of STORY) {
      const typed = line.replaceAll(/\{(\w+)\}/g, (_, name: string) => state.values.get(name)!);
      const words = ["service", ...typed.replace("survey.yaml", path.join(state.home, "survey.yaml")).split(" ")];
      const [here, there] = [
        await runInside({ args: [...words, ...services.local.place], home: state.home }),
        await runInside({ args: [...words, "--profile", "prod"], home: state.home }),
      ];
      const shown = ({ status, stdout, stderr }: typeof here) => ({
        line,
        status,
        stdout: plain(stdout),
        stderr: plain(stderr),
      });
      expect(shown(there)).toEqual(shown(here));
      const [, id] = /^(?:id\t)?(\d+)(?=[\t\n])/.exec(here.stdout) ?? [];
      if (id !== undefined) state.values.set(words[1]!, id);
      if (here.status === 0) seen.add(words.slice(1, 3).join("."));
    }
    const names = describeOperations().map(({ name }) => name);
    const told = (name: string): boolean => [...seen].some((each) => each === name || each.startsWith(`${name}.`));
    // These two need a bounce and a survey in an unknown state.
    expect(names.filter((name) => !told(name))).toEqual(["bounce.clear", "delivery.resolve"]);
  },
  PATIENCE_MS,
);
