/** The whole service in process with a manual clock. Requests look like those of browsers and mail clients. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { HttpResponse } from "../../../src/contract/http.ts";
import type { Properties, SurveyResponse } from "../../../src/contract/resources.ts";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import { createLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { finishDelivery } from "../../../src/service/domain/delivery/deliveries.ts";
import type { Project } from "../../../src/service/domain/inputs.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import type { DueSurvey } from "../../../src/service/domain/ports.ts";
import { addKey, addProject } from "../../../src/service/domain/projects/projects.ts";
import { listen } from "../../../src/service/http/server.ts";
import { launchBrowser } from "../../helpers/browser.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import { databaseOf, onPostgres } from "../../helpers/postgres.ts";
import { responsesQuery, sendInput, START } from "../domain/fixture.ts";
import { listResponses } from "../domain/lists.ts";
import { claimDue } from "../domain/claim-due.ts";

export const KEY = "key-of-the-page-tests";
export const ORIGIN = "http://survey.test:8080";
/** Seconds after sending. A visit this late isn't taken for a link scanner's. */
export const LATER = 3600;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is form-encoded; a string is sent unchanged. */
  readonly body?: string | Readonly<Record<string, string>>;
  readonly from?: string;
}

export interface PageFixture {
  readonly service: TestService;
  readonly project: Project;
  readonly time: { now: number };
  send(properties?: Properties, email?: string): Promise<DueSurvey>;
  call(method: string, path: string, ask?: Ask): Promise<Answer>;
  get(path: string, ask?: Ask): Promise<Answer>;
  post(path: string, body: Readonly<Record<string, string>>, ask?: Ask): Promise<Answer>;
  responses(): Promise<readonly SurveyResponse[]>;
  readonly logged: () => string;
  close(): Promise<void>;
}

export async function openPages(options: Partial<ServiceOptions> = {}): Promise<PageFixture> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-pages-"));
  const time = { now: START };
  const instant: Clock = { ...systemClock, sleep: () => Promise.resolve() };
  // PostgreSQL replies in real time, so sleeps have to be real too.
  const clock: Clock = {
    ...(onPostgres ? systemClock : instant),
    now: () => time.now * 1000,
    monotonic: () => time.now * 1000,
  };
  const lines: string[] = [];
  const log = createLog(async (text) => void lines.push(text), clock);
  const database = await databaseOf(null);
  const place = database === null ? {} : { database: { url: database.url, mayMigrate: true, time: "clock" as const } };
  const settings = { dataFile: path.join(folder, "survey.db"), ...place, clock, random: systemRandom, log };
  const service = await openTestService({ publicUrl: null, rateLimit: null, ...settings, ...options });
  const { store } = service;
  const project = await store.write(
    async (tx) => {
      const made = await addProject(tx, "default");
      await addKey(tx, made, KEY);
      return made;
    },
    { project: "all" },
  );
  const call: PageFixture["call"] = async (method, target, { headers = {}, body, from = "192.0.2.1" } = {}) => {
    const text = typeof body === "object" ? new URLSearchParams(body).toString() : body;
    const type = typeof body === "object" ? { "content-type": "application/x-www-form-urlencoded" } : {};
    const request = { method, url: ORIGIN + target, headers: { ...type, ...headers }, from };
    return toAnswer(await service.handle(text === undefined ? request : { ...request, body: text }));
  };
  return {
    service,
    project,
    time,
    send: async (properties = {}, email = "ada@example.com") => {
      await store.write((tx) => sendPerson(tx, project, sendInput({ email, name: "Ada", properties })), {
        project: "all",
      });
      const claim = { claimer: "one", channel: "email", leaseSeconds: 60, limit: 1 } as const;
      const [due] = await store.write((tx) => claimDue(tx, claim), { project: "all" });
      if (due === undefined) throw new Error("nothing was due");
      await store.write((tx) => finishDelivery(tx, due, { kind: "sent" }), { project: "all" });
      time.now += LATER;
      return due;
    },
    call,
    get: (target, ask) => call("GET", target, ask),
    post: (target, body, ask) => call("POST", target, { body, ...ask }),
    responses: async () => {
      const links = { permalink: (token: string) => `/r/${token}` };
      const query = responsesQuery({ perPage: 100 });
      return store.read((tx) => listResponses(tx, project, query, links));
    },
    logged: () => {
      log.flush();
      return lines.join("");
    },
    close: async () => {
      await service.close();
      database?.giveBack();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function toAnswer({ status, headers, body }: HttpResponse): Promise<Answer> {
  if (typeof body === "string") return { status, headers, text: body };
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return { status, headers, text: Buffer.concat(parts).toString("latin1") };
}

export async function signedPath(pages: PageFixture, id = ""): Promise<string> {
  const headers = { authorization: `Basic ${Buffer.from(`${KEY}:`).toString("base64")}` };
  const { text } = await pages.get(`/v1/survey_responses/${id}/link.json`, { headers });
  return (JSON.parse(text) as { url: string }).url.replace(/^https?:\/\/[^/]+/, "");
}

export function visibleText(page: string): string {
  return page
    .replace(/<(style|script|title)>[^]*?<\/\1>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, " ")
    .trim();
}

export function checkedScores(page: string): string[] {
  return [...page.matchAll(/<input[^>]*value="(\d+)"[^>]*\schecked/g)].map(([, value = ""]) => value);
}

export type BrowserFixture = Awaited<ReturnType<typeof openInBrowser>>;

export async function openInBrowser() {
  const pages = await openPages();
  const listening = await listen(pages.service, { host: "127.0.0.1", port: 0, tls: null });
  const browser = await launchBrowser();
  const close = async (): Promise<void> => {
    await browser.close();
    listening.cut();
    await listening.close();
    await pages.close();
  };
  return { ...pages, browser, url: listening.url, close };
}
