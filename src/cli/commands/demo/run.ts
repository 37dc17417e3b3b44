import { readdir } from "node:fs/promises";
import { createClient } from "../../../client/create-client.ts";
import type { Client } from "../../../client/client.ts";
import { undiciTransport } from "../../../client/transport/undici-transport.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { CancelledError } from "../../errors/usage-error.ts";
import type { Deps } from "../../kit/deps.ts";
import { createPaint } from "../../render/human.ts";
import { toShellWord } from "../../render/safe-text.ts";
import { answerOnPage, collectAnswers, parseCustomers, readSurveyLinks } from "./answers.ts";
import { type DemoConnection, openStage, type Stage } from "./stage.ts";

/** Keeps the folder if the demo completes. Leaves no process running. */
export async function runDemo(deps: Deps, waitsForEnter: boolean): Promise<void> {
  const narrator = createNarrator(deps, waitsForEnter);
  await narrator.say("This demo surveys 300 customers, with its own server in a temporary folder.");
  await narrator.say("Nothing is sent: messages are written to files.");
  const stage = await openStage(deps);
  try {
    const connection = await play(deps, stage, narrator);
    await stage.close();
    await writeNextSteps(stage, narrator, connection);
  } catch (error) {
    await stage.close();
    await stage.discard();
    throw error;
  }
}

async function play(deps: Deps, stage: Stage, narrator: Narrator): Promise<DemoConnection> {
  // The default format in a pipe, TSV, has no header.
  const forReading = deps.streams.out.isTTY ? [] : ["-o", "table"];
  const run = async (...words: readonly string[]): Promise<void> => {
    deps.signal.throwIfAborted();
    await narrator.command(words);
    await stage.run(words);
  };
  await narrator.step("Start a server: one process, one file");
  const connection = await startServer(stage, narrator);
  await narrator.step("Import customers and survey each of them");
  await run("people", "import", "customers.csv", "--send", "--yes");
  await narrator.say("The surveys are written to outbox/ as emails and text messages.");
  await narrator.step("Some customers answer");
  await letAnswer(deps, stage, narrator, connection);
  await narrator.step("Add two of them to Autopilot, which surveys them every quarter");
  for (const [email, name] of MEMBERS) await run("autopilot", "add", "--email", email, "--name", name);
  await narrator.step("Show the score and the comments");
  await run("metrics");
  await run("responses", "list", "-L", "8", "--columns", "score,person_name,comment", ...forReading);
  await narrator.step("Export every response to a file");
  await run("responses", "export", "--out", "responses.csv");
  await withDemoClient(deps, connection, (client) => untilDelivered(client, deps));
  return connection;
}

async function startServer(stage: Stage, narrator: Narrator): Promise<DemoConnection> {
  const words = ["serve", "--data", "survey.db", "--port", "0"];
  await narrator.command(words);
  const { line, connection } = await stage.serve(words);
  await narrator.say(line);
  return connection;
}

const MEMBERS = [
  ["grace@example.com", "Grace Hopper"],
  ["alan@example.com", "Alan Turing"],
] as const;

async function letAnswer(
  deps: Deps,
  { csv, file }: Stage,
  narrator: Narrator,
  connection: DemoConnection,
): Promise<void> {
  const { asked, answered } = await withDemoClient(deps, connection, async (client) => {
    await untilDelivered(client, deps);
    return collectAnswers(client, parseCustomers(csv), deps.random, deps.signal);
  });
  await narrator.say(`${answered} of ${asked} people give a score from 0 to 10, and many explain why.`);
  const [link] = await readSurveyLinks(file("outbox"));
  if (link === undefined) return;
  await answerOnPage(connection.baseUrl, link, { score: 9, comment: "Answered in a browser." });
  await narrator.say("One more answers in a browser, with the link in a text message:", `  ${link}`);
}

async function withDemoClient<Result>(
  { clock, random }: Deps,
  { baseUrl, apiKey }: DemoConnection,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const transport = undiciTransport({ baseUrl, env: {} });
  const client = createClient({ baseUrl, apiKey, transport, clock, random });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const LOOK_AGAIN_MS = 50;

async function untilDelivered(client: Client, { clock, signal }: Pick<Deps, "clock" | "signal">): Promise<void> {
  for (;;) {
    let waiting = 0;
    for await (const page of client.listPeople({ per_page: 100 }, { signal }))
      waiting += page.rows.filter(
        ({ next_survey_scheduled_at: at }) => Number(at ?? Infinity) <= unixSeconds(clock),
      ).length;
    if (waiting === 0) return;
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

async function writeNextSteps({ folder, file }: Stage, narrator: Narrator, { baseUrl }: DemoConnection): Promise<void> {
  const outbox = await readdir(file("outbox"), { recursive: true, withFileTypes: true });
  const [, unanswered = baseUrl] = await readSurveyLinks(file("outbox"));
  const messages = outbox.filter((entry) => entry.isFile()).length;
  await narrator.step("Next steps");
  await narrator.say(
    "The demo server has stopped. Its data is in",
    `  ${folder}`,
    `as survey.db, customers.csv, responses.csv and outbox/ (${messages} messages).`,
    "To start it again and look around:",
    "",
    `  cd ${folder}`,
    "  . ./connection.sh",
    `  surveyctl serve --data survey.db --port ${new URL(baseUrl).port} 2> serve.log &`,
    "  surveyctl metrics",
    "  surveyctl responses list --newest --limit 10",
    `  surveyctl people get ${MEMBERS[0][0]}`,
    "  surveyctl autopilot list",
    "  surveyctl --help",
    "",
    "While it runs, you can answer this survey in a browser:",
    "",
    `  ${unanswered}`,
  );
}

interface Narrator {
  step(title: string): Promise<void>;
  say(...lines: readonly string[]): Promise<void>;
  command(words: readonly string[]): Promise<void>;
}

function createNarrator({ streams, options }: Pick<Deps, "streams" | "options">, waitsForEnter: boolean): Narrator {
  const paint = createPaint(options.color);
  const state = { steps: 0, waits: waitsForEnter && streams.in.isTTY && streams.out.isTTY && streams.err.isTTY };
  const wait = async (): Promise<void> => {
    try {
      await streams.in.ask("\nPress Enter to continue ");
    } catch (error) {
      // The input has ended, so no one will press Enter.
      if (!(error instanceof CancelledError)) throw error;
      state.waits = false;
    }
  };
  return {
    async step(title) {
      if (state.waits && state.steps > 0) await wait();
      state.steps += 1;
      await streams.out.write(`\n${paint.heading(`${state.steps}. ${title}`)}\n`);
    },
    say: (...lines) => streams.out.write(lines.map((line) => `${line}\n`).join("")),
    command: (words) => streams.out.write(`\n$ ${paint.heading(["surveyctl", ...words].map(toShellWord).join(" "))}\n`),
  };
}
