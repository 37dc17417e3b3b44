import { existsSync } from "node:fs";
import path from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readCommands } from "../helpers/command-tree.ts";
import { DEPLOY, deployed, findProgram, namesOf, ROOT, runTool, settingsOf } from "./deploy-files.ts";

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

const instructions: readonly Instruction[] = deployed("Dockerfile")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => ({ word: line.split(" ")[0] ?? "", rest: line.replace(/^\S+ /, "") }));
const lastFrom = instructions.findLastIndex(({ word }) => word === "FROM");
const restOf = (word: string): string[] =>
  instructions.slice(lastFrom).flatMap((one) => (one.word === word ? [one.rest] : []));

interface ComposeService {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
  readonly [setting: string]: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const compose = parse(deployed("compose.yaml")) as Compose;
const services = Object.values(compose.services);

const commandLines: readonly (readonly string[])[] = [
  ...namesOf(".service").flatMap((name) =>
    settingsOf(deployed(name), "ExecStart").map((line) => line.split(" ").slice(1)),
  ),
  ...restOf("CMD").map((json) => JSON.parse(json) as string[]),
  ...restOf("HEALTHCHECK").map((rest) => (JSON.parse(rest.slice(rest.indexOf("["))) as string[]).slice(2)),
  ...services.flatMap(({ command }) => (command === undefined ? [] : [command])),
];

describe("every command line", () => {
  it("names commands and flags that the program has", async () => {
    const known = await readCommands();
    const unknown = commandLines.flatMap((words) => {
      const command = known.find(({ name }) => `${words.join(" ")} `.startsWith(`${name} `));
      if (command === undefined) return [words.slice(0, 2).join(" ")];
      const flags = words.filter((word) => word.startsWith("--")).map((word) => word.replace(/=.*/, ""));
      return flags.filter((flag) => !command.flags.includes(flag)).map((flag) => `${command.name} ${flag}`);
    });
    expect([unknown, commandLines.length]).toEqual([[], 7]);
  });
});

describe("the Dockerfile", () => {
  it("is free of complaints", () => {
    expect(validate(deployed("Dockerfile"))).toEqual([]);
  });

  it("ends in an image without a shell, for a user without rights, that checks its own health", () => {
    expect(instructions[lastFrom]?.rest).toMatch(/^gcr\.io\/distroless\/\S+:nonroot$/);
    expect([restOf("USER"), restOf("EXPOSE"), restOf("VOLUME"), restOf("RUN")]).toEqual([
      ["65532:65532"],
      ["8080"],
      ["/data"],
      [],
    ]);
    const program = ["/nodejs/bin/node", "/app/bin/surveyctl.js"];
    expect(restOf("ENTRYPOINT").map((json) => JSON.parse(json) as unknown)).toEqual([program]);
    const [health = ""] = restOf("HEALTHCHECK");
    expect(JSON.parse(health.slice(health.indexOf("[")))).toEqual([...program, "service", "health"]);
  });

  it("takes the package alone, which is all that the build is given", () => {
    const sources = instructions.filter(({ word, rest }) => word === "COPY" && !rest.startsWith("--from="));
    const [{ rest } = { rest: "" }] = sources;
    const [pattern = ""] = rest.split(" ");
    expect([deployed("Dockerfile.dockerignore"), sources.length]).toEqual([`*\n!${pattern}\n`, 1]);
    expect(pattern).toBe("surveyctl-*.tgz");
  });
});

describe("the compose file", () => {
  it("declares what its services use", () => {
    const used = services.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0] ?? ""));
    const folder = path.join(ROOT, "docs/deploy");
    expect(
      used.filter((name) => (name.startsWith(".") ? !existsSync(path.join(folder, name)) : !(name in compose.volumes))),
    ).toEqual([]);
    expect(services.flatMap(({ secrets = [] }) => secrets.filter((name) => !(name in compose.secrets)))).toEqual([]);
    const needed = services.flatMap(({ depends_on = [] }) =>
      Array.isArray(depends_on) ? (depends_on as string[]) : Object.keys(depends_on),
    );
    expect([needed, needed.filter((name) => !(name in compose.services))]).toEqual([["postgres", "surveyctl"], []]);
    const build = compose.services["surveyctl"]?.build;
    expect(existsSync(path.join(folder, build?.context ?? "", build?.dockerfile ?? ""))).toBe(true);
  });

  it("gives the service no rights, no writable root and no password in its environment", () => {
    const { user, read_only, cap_drop, security_opt, environment } = compose.services["surveyctl"] ?? {};
    expect({ user, read_only, cap_drop, security_opt, environment }).toEqual({
      user: "65532:65532",
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      environment: undefined,
    });
    expect(deployed("compose.yaml")).not.toMatch(/PASSWORD:/);
  });
});

describe("the lines of mail in the compose file", () => {
  const text = deployed("compose.yaml").replaceAll(/^( *)# (?=- |smtp_url:|  file: )/gm, "$1");
  const { services: withMail, secrets } = parse(text) as Compose;

  it("are flags and a secret once their # is gone", async () => {
    const service = withMail["surveyctl"];
    const known = await readCommands();
    const flags = known.find(({ name }) => name === "serve")?.flags ?? [];
    const added = (service?.command ?? []).filter(
      (word) => !(compose.services["surveyctl"]?.command ?? []).includes(word),
    );
    expect(added).toEqual([
      "--smtp-file=/run/secrets/smtp_url",
      "--smtp-from=Acme <survey@example.com>",
      "--smtp-rate=10/s",
    ]);
    expect(added.filter((word) => !flags.includes(word.replace(/=.*/, "")))).toEqual([]);
    expect([service?.secrets, secrets["smtp_url"]]).toEqual([["database_url", "smtp_url"], { file: "./smtp.url" }]);
  });
});

describe("the files for Prometheus", () => {
  it("name metrics that the service has, and each other", () => {
    const rules = deployed("prometheus-alerts.yml");
    const named = [...rules.matchAll(/surveyctl_\w+/g)].map(([name]) => name);
    const dashboard = deployed("grafana-dashboard.json");
    expect(named.filter((name) => !dashboard.includes(name))).toEqual([]);
    const { rule_files } = parse(deployed("prometheus.yml")) as { readonly rule_files: readonly string[] };
    expect([named.length > 0, rule_files]).toEqual([true, ["prometheus-alerts.yml"]]);
  });

  const promtool = findProgram("promtool");
  it.skipIf(promtool === null)("are sound (runs where promtool is installed)", () => {
    const { status, said } = runTool(promtool ?? "", ["check", "config", path.join(DEPLOY, "prometheus.yml")]);
    expect([status, said]).toEqual([0, expect.stringContaining("SUCCESS: 8 rules found")]);
  });
});

describe("the units", () => {
  it("find the program wherever a package manager has put it", () => {
    const programs = namesOf(".service").flatMap((name) => settingsOf(deployed(name), "ExecStart"));
    expect(programs.map((line) => line.split(" ")[0])).toEqual(["surveyctl", "surveyctl", "surveyctl", "surveyctl"]);
  });

  it("are as closed as each other", () => {
    const hardening = namesOf(".service").map((name) => deployed(name).split("# Allow only its own folder")[1]);
    const [first, ...others] = hardening.map((text) => text?.split("\n\n")[0]?.trim());
    expect(others).toEqual([first, first, first]);
  });

  it("have a timer each, but for the service itself", () => {
    const timers = namesOf(".timer").map((name) => name.replace(/timer$/, "service"));
    expect([...timers, "surveyctl.service"].toSorted()).toEqual(namesOf(".service").toSorted());
  });
});
