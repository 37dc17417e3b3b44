/** `surveyctl demo`: the main job from a customer list to a CSV, on a service of its own (design: "Grammar"). */
import { readdir, readFile } from "node:fs/promises";
import { createFlags } from "../../args/flags.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { runAutopilotAdd } from "../autopilot/add.ts";
import { runMetrics } from "../metrics/show.ts";
import { runResponsesExport } from "../responses/export.ts";
import { runResponsesList } from "../responses/list.ts";
import { runPeopleImport } from "../people/import.ts";
import { withClient } from "../../command/with-client.ts";
import { collectAnswers } from "./collect-answers.ts";
import { parseCustomers } from "./customers.ts";
import { createNarrator, type Narrator } from "./narrator.ts";
import { openStage, type Stage } from "./stage.ts";

const SHOWN_RESPONSES = 8;

/** Leaves its folder behind when it came to its end, and no process in any case. */
export async function runDemo(deps: Deps): Promise<ExitCode> {
  const narrator = createNarrator(deps);
  await narrator.say(
    "A customer list becomes a score: the main job of surveyctl, on a service of",
    "its own in a temporary folder. No message leaves this machine.",
  );
  const stage = await openStage(deps);
  try {
    await playToTheEnd(stage, narrator);
  } catch (error) {
    await stage.discard();
    throw error;
  }
  await tellNext(stage, narrator);
  return EXIT.done;
}

/** The service has ended when this settles. */
async function playToTheEnd(stage: Stage, narrator: Narrator): Promise<void> {
  try {
    await play(stage, narrator);
  } finally {
    await stage.close();
  }
}

async function play(stage: Stage, narrator: Narrator): Promise<void> {
  for (const scene of [startService, surveyCustomers, letAnswer, addToAutopilot, showScore, exportResponses]) {
    stage.deps.signal.throwIfAborted();
    await scene(stage, narrator);
  }
}

async function startService({ connection }: Stage, narrator: Narrator): Promise<void> {
  await narrator.step("A service, in one process and one file");
  await narrator.command("surveyctl serve --data survey.db");
  await narrator.say(`listening on ${connection.baseUrl}`);
}

async function surveyCustomers({ deps, file }: Stage, narrator: Narrator): Promise<void> {
  await narrator.step("Customers come in, and each is sent a survey");
  await narrator.command("surveyctl people import customers.csv --send --yes");
  await runPeopleImport(deps, file("customers.csv"), createFlags({ send: true, yes: true }));
  await narrator.say("The surveys become e-mails and text messages in outbox/.");
}

async function letAnswer({ deps, csv }: Stage, narrator: Narrator): Promise<void> {
  await narrator.step("Some of them answer");
  const { asked, answered } = await withClient(deps, (client) =>
    collectAnswers(client, parseCustomers(csv), deps.random, deps.signal),
  );
  await narrator.say(`${answered} of ${asked} give a score from 0 to 10, and many say why.`);
}

/** Two people who asked to be surveyed again and again. */
const MEMBERS = [
  { email: "grace@example.com", name: "Grace Hopper" },
  { email: "alan@example.com", name: "Alan Turing" },
] as const;

async function addToAutopilot({ deps }: Stage, narrator: Narrator): Promise<void> {
  await narrator.step("Two are asked again every quarter: Autopilot");
  for (const { email, name } of MEMBERS) {
    await narrator.command(`surveyctl autopilot add --email ${email} --name '${name}'`);
    await runAutopilotAdd(deps, {
      platform: "email",
      person: { personId: null, email, phone: null },
      name,
      properties: { properties: null, pairs: [], special: {} },
    });
  }
}

async function showScore({ deps }: Stage, narrator: Narrator): Promise<void> {
  await narrator.step("The score, and what they say");
  await narrator.command("surveyctl metrics");
  await runMetrics(deps, {
    since: null,
    until: null,
    by: null,
    compare: false,
    assertions: [],
    trend: null,
    groups: null,
  });
  const limits = { limit: SHOWN_RESPONSES, perPage: null };
  const columns = ["score", "person_name", "comment"];
  await narrator.command(`surveyctl responses list --limit ${SHOWN_RESPONSES} --columns ${columns.join()}`);
  await runResponsesList(
    { ...deps, options: { ...deps.options, columns, quiet: true } },
    { ...EVERYTHING, limits, order: null },
  );
}

const EVERYTHING = {
  since: null,
  until: null,
  updatedSince: null,
  updatedUntil: null,
  trend: null,
  personId: null,
  personEmail: null,
  expand: null,
} as const;

async function exportResponses({ deps, file }: Stage, narrator: Narrator): Promise<void> {
  await narrator.step("Everything they said, as a file");
  await narrator.command("surveyctl responses export --out responses.csv");
  await runResponsesExport(
    { ...deps, options: { ...deps.options, output: "csv", quiet: true } },
    { ...EVERYTHING, filterText: "", flags: { ...PLAIN, out: file("responses.csv") } },
  );
  const rows = (await readFile(file("responses.csv"), "utf8")).split("\n").length - 2;
  await narrator.say(`${rows} rows, written atomically, readable only by you.`);
}

const PLAIN = {
  gzip: false,
  append: false,
  state: null,
  flatten: false,
  checksum: false,
  perPage: null,
} as const;

async function tellNext({ folder, file, connection }: Stage, narrator: Narrator): Promise<void> {
  const messages = await readdir(file("outbox"));
  await narrator.step("Go on from here");
  await narrator.say(
    "The service has ended; everything it knew lies in",
    `  ${folder}`,
    `as survey.db, customers.csv, responses.csv and outbox/ (${messages.length} messages).`,
    "Start it again and ask:",
    "",
    `  cd ${folder}`,
    "  . ./connection.sh",
    `  surveyctl serve --data survey.db --port ${new URL(connection.baseUrl).port} &`,
    "  surveyctl metrics",
    "  surveyctl responses list --order desc --limit 10",
    `  surveyctl people get ${MEMBERS[0].email}`,
    "  surveyctl autopilot list",
    "  surveyctl --help",
  );
}
