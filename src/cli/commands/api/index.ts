import { quoteText } from "../../../contract/text/invisible.ts";
import { VERSION } from "../../../runtime/version.ts";
import { suggest } from "../../args/suggest.ts";
import { readTextInput } from "../../args/text-file.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { FIELDS, METHODS, resolveTarget } from "./request.ts";
import type { Client } from "../../../client/client.ts";
import type { HttpResponse } from "../../../contract/http.ts";
import { type JsonObject, parseJson } from "../../../contract/json.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { InterruptedError } from "../../errors/command-errors.ts";
import { toSafeLines, writeText } from "../../render/safe-text.ts";
import { resourceAt, writePages } from "./paginate.ts";
import { isShaped, toTerminalJson, writeShaped } from "./shape.ts";

const api = defineCommand({
  args: {
    method: { form: "[method]", text: "HTTP method (default GET)", choices: METHODS, parse: (word) => word },
    path: { form: "[path]", text: "a path such as /v1/people.json, or a URL below the base URL" },
  },
  examples: [
    "surveyctl api /v1/metrics.json",
    "surveyctl api /v1/people.json -f email=ann@example.com",
    "surveyctl api POST /v1/people.json -f email=ann@example.com -F send=false",
    "surveyctl api /v1/survey_responses.json --paginate",
    "surveyctl api --openapi > openapi.json",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
  flags: {
    fields: FIELDS,
    input: { value: "file", text: "request body: a file, or - for standard input" },
    paginate: { text: "read every page of a list and print one array", conflicts: ["--include"] },
    include: { short: "-i", text: "print the status line and headers too", conflicts: ["--query"] },
    openapi: { text: "print the API as an OpenAPI 3.1 document; needs no connection" },
  },
  run: (deps, { openapi, method, path, ...options }) =>
    openapi ? runOpenApi(deps, method) : runApi(deps, { ...readTarget(method, path), ...options }),
});

export const commands = [api];

/** Adds `--base-url` to the document if given; otherwise the document has relative URLs. */
async function runOpenApi(deps: Deps, word: string | null): Promise<void> {
  if (word !== null) throw new UsageError("--openapi takes no method and no path");
  const { toOpenApi } = await import("../../../contract/openapi.ts");
  const { parseBaseUrl } = await import("../../../config/base-url.ts");
  const { describeOperations } = await import("../../../service/operations/index.ts");
  const { baseUrl } = deps.options;
  const serverUrl = baseUrl === null ? null : parseBaseUrl(baseUrl, "--base-url", { allowHttp: true });
  const text = JSON.stringify(toOpenApi({ version: VERSION, serverUrl, operations: describeOperations() }), null, 2);
  await deps.streams.out.write(`${text}\n`);
}

/** A single word is the path of a GET, unless it is the name of a method. */
function readTarget(word: string | null, path: string | null): Pick<ApiOptions, "method" | "path"> {
  if (word !== null && path !== null) return { method: parseMethod(word), path };
  if (word && !METHODS.some((method) => method === word.toUpperCase())) return { method: "GET", path: word };
  throw new UsageError("<path> is required", { hint: `for example: surveyctl api ${word || "GET"} /v1/people.json` });
}

function parseMethod(text: string): (typeof METHODS)[number] {
  const method = text.toUpperCase();
  const found = METHODS.find((known) => known === method);
  if (found !== undefined) return found;
  // Method names are short, so only one letter may differ: otherwise FETCH would suggest PATCH.
  const nearest = suggest(method, METHODS, 1);
  throw new UsageError(`method: ${quoteText(text)} is not one of ${METHODS.join(", ")}`, {
    hint: nearest === null ? "leave it out for GET" : `did you mean ${nearest}?`,
  });
}

interface ApiOptions {
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly fields: JsonObject;
  readonly input: string | null;
  readonly paginate: boolean;
  readonly include: boolean;
}

async function runApi(deps: Deps, options: ApiOptions): Promise<void> {
  const { method } = options;
  const body = await readBody(deps, method, options);
  if (options.paginate && method !== "GET") throw new UsageError("--paginate requires GET");
  return withClient(deps, async (client) => {
    const query = method === "GET" || options.input !== null ? options.fields : {};
    const url = resolveTarget(options.path, client.baseUrl, query);
    if (deps.options.dryRun && method !== "GET") return showRequest(deps, method, url, body);
    if (options.paginate) return writePages(deps, client, url);
    return showAnswer(deps, client, { method, url, ...(body !== undefined && { body }) }, options.include);
  });
}

async function readBody({ streams }: Deps, method: string, { input, fields }: ApiOptions): Promise<string | undefined> {
  if (input !== null && method === "GET") throw new UsageError("--input cannot be used with GET, which has no body");
  if (input !== null) return readTextInput(streams.in, input);
  return method === "GET" || Object.keys(fields).length === 0 ? undefined : JSON.stringify(fields);
}

async function showRequest({ streams }: Deps, method: string, url: string, body: string | undefined): Promise<void> {
  const head = JSON.stringify({ method, url }).slice(0, -1);
  await writeText(streams.out, `${head},"body":${body === undefined ? "null" : toJsonText(body)}}\n`);
}

/** Keeps JSON as it is, on one line, so that numbers keep all their digits. Other text becomes a string. */
function toJsonText(body: string): string {
  return parseJson(body) !== undefined ? body.trim().replaceAll(/[\r\n]\s*/g, " ") : JSON.stringify(body);
}

const READS = new Set(["GET", "HEAD", "OPTIONS"]);

type Call = Omit<Parameters<Client["raw"]>[0], "signal">;

async function showAnswer(deps: Deps, client: Client, call: Call, include: boolean): Promise<void> {
  const { streams, signal } = deps;
  const answer = await client.raw({ signal, ...call }).catch((error: unknown) => {
    const mayHaveArrived = error instanceof InterruptedError && !READS.has(call.method);
    throw mayHaveArrived
      ? new InterruptedError(error.signal, "the request may have been processed; check before you repeat it")
      : error;
  });
  if (
    answer.failure === null &&
    !include &&
    isShaped(deps) &&
    (await writeShaped(deps, answer.text, resourceAt(call.url, client.baseUrl)))
  )
    return;
  const head = include ? await formatHead(answer) : "";
  const text = streams.out.isTTY ? await forTerminal(deps, answer.text) : ended(answer.text);
  await streams.out.write((streams.out.isTTY ? toSafeLines(head) : head) + text);
  if (answer.failure !== null) throw answer.failure;
}

async function formatHead({ status, headers }: Pick<HttpResponse, "status" | "headers">): Promise<string> {
  const { STATUS_CODES } = await import("node:http");
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  return `HTTP/1.1 ${`${status} ${STATUS_CODES[status] ?? ""}`.trim()}\n${lines.join("")}\n`;
}

async function forTerminal({ options }: Deps, text: string): Promise<string> {
  return parseJson(text) !== undefined ? `${await toTerminalJson(text, options.color)}\n` : toSafeLines(ended(text));
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
