import { scoreCategory, type ScoreCategory } from "../../../contract/limits.ts";
import type { Random } from "../../../runtime/random.ts";
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { undiciTransport } from "../../../client/transport/undici-transport.ts";
import { parse } from "csv-parse/sync";

export interface Answer {
  readonly score: number;
  readonly comment: string | null;
}

const ANSWERING_SHARE = 0.35;
const COMMENTING_SHARE = 0.55;

/** Percentage of each score from 0 to 10. */
const SCORE_WEIGHTS = [2, 1, 2, 2, 2, 5, 6, 13, 19, 22, 26] as const;

const COMMENTS: Readonly<Record<ScoreCategory, readonly string[]>> = {
  promoter: [
    "Works every day for us.",
    "Love it",
    "Super Service, schnelle Antwort!",
    "Très bon produit",
    "最高です。",
  ],
  passive: ["Fine, nothing special", "Could be faster", "Está bien", "Good, but the mobile app lags behind"],
  detractor: [
    "Too expensive",
    'Support took 3 days, "urgent" they said',
    "The export broke twice",
    "Setup was confusing",
  ],
};

export function sampleAnswers(count: number, random: Random): (Answer | null)[] {
  return Array.from({ length: count }, () => (random.fraction() < ANSWERING_SHARE ? sampleAnswer(random) : null));
}

function sampleAnswer(random: Random): Answer {
  const score = sampleScore(random.fraction());
  const comments = COMMENTS[scoreCategory(score)];
  const comment =
    random.fraction() < COMMENTING_SHARE ? comments[Math.floor(random.fraction() * comments.length)] : undefined;
  return { score, comment: comment ?? null };
}

function sampleScore(fraction: number): number {
  const total = SCORE_WEIGHTS.reduce((sum, weight) => sum + weight, 0);
  let left = fraction * total;
  const score = SCORE_WEIGHTS.findIndex((weight) => (left -= weight) < 0);
  return score === -1 ? 10 : score;
}

export async function collectAnswers(
  client: Client,
  customers: readonly Customer[],
  random: Random,
  signal: AbortSignal,
): Promise<{ readonly asked: number; readonly answered: number }> {
  const people = await readPeople(client, signal);
  const answers = sampleAnswers(people.length, random);
  for (const [index, answer] of answers.entries()) {
    const person = people[index];
    if (answer !== null && person !== undefined)
      await client.addResponse(toBody(person, answer, customers), { signal });
  }
  return { asked: people.length, answered: answers.filter((answer) => answer !== null).length };
}

async function readPeople(client: Client, signal: AbortSignal): Promise<JsonObject[]> {
  const people: JsonObject[] = [];
  for await (const page of client.listPeople({ per_page: 100 }, { signal })) people.push(...page.rows);
  return people;
}

function toBody(person: JsonObject, { score, comment }: Answer, customers: readonly Customer[]): JsonObject {
  const customer = customers.find(({ email, phoneNumber }) =>
    email === "" ? phoneNumber === person["phone_number"] : email === person["email"],
  );
  return {
    person: person["id"] ?? null,
    score,
    person_properties: { ...customer?.properties },
    ...(comment === null ? {} : { comment }),
  };
}

export interface Customer {
  readonly email: string;
  readonly phoneNumber: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
}

const FILE = new URL("./demo-people.csv", import.meta.url);
const PROPERTIES = ["locale", "plan", "region", "store"] as const;

export function readDemoCsv(): Promise<string> {
  return readFile(FILE, "utf8");
}

export function parseCustomers(csv: string): Customer[] {
  const rows = parse(csv, { columns: true }) as Record<string, string>[];
  return rows.map((row) => ({
    email: row["email"] ?? "",
    phoneNumber: row["phone_number"] ?? "",
    name: row["name"] ?? "",
    properties: Object.fromEntries(PROPERTIES.map((name) => [name, row[name] ?? ""])),
  }));
}

const LINK = /https?:\/\/\S+\/s\/[\w-]+/;
const MESSAGES_READ = 5;

export async function readSurveyLinks(outbox: string): Promise<readonly string[]> {
  const names = (await readdir(outbox)).filter((name) => name.endsWith(".json")).toSorted();
  const texts = await Promise.all(
    names.slice(0, MESSAGES_READ).map((name) => readFile(path.join(outbox, name), "utf8")),
  );
  return texts.flatMap((text) => LINK.exec(text)?.[0] ?? []);
}

export async function answerOnPage(baseUrl: string, link: string, { score, comment }: Answer): Promise<void> {
  const exchange = undiciTransport({ baseUrl, env: {} });
  try {
    const { status } = await exchange({
      method: "POST",
      url: link,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ score: String(score), comment: comment ?? "" }).toString(),
    });
    if (status !== 303) throw new Error(`the survey's page answered ${status}`);
  } finally {
    await exchange.close();
  }
}
