import type { Command } from "commander";
import type { ListWatch } from "../../../../bulk/export/watch.ts";
import { RETRY_LIMITS } from "../../../../client/call/retry-policy.ts";
import type { Client, Parameters } from "../../../../client/client.ts";
import {
  BadReplyError,
  ConnectionError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
} from "../../../../client/errors/call-errors.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import { PER_PAGE_MAX } from "../../../../contract/limits.ts";
import { ROUTES, type Expansion } from "../../../../contract/routes.ts";
import type { RowPage } from "../../../../contract/row-page.ts";
import { CONCURRENCY_DEFAULT } from "../../../args/global-options.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { badValue, parseDuration, parseName } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { type Deps, withClient } from "../../../command/deps.ts";
import { writeDone, writeNote, writeWarning } from "../../../command/notes.ts";
import { noTrend, withRefusals } from "../../../command/refusals.ts";
import { readTime } from "../../../command/time-flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { CREATED, keysOf, pageList, timeOf, UPDATED } from "../../../export/sources.ts";
import type { ListOutput } from "../../../render/context.ts";
import { openListOutput } from "../../../render/list-output.ts";
import { RESPONSES } from "../../../render/resources.ts";
import { changedAt, RESPONSE_VERSIONS, UPDATED_KEYS } from "../export.ts";
import { FORWARDED, type Forwarder, type ForwardTarget, openForwarder } from "./forward.ts";
import { forSelection } from "../selection/selection.ts";
import { ROW_FLAGS, createPageFilter, readRowFilters, type RowFilters, withSearch } from "../selection/row-filters.ts";
import { REDACT_FLAG, createRedaction } from "../selection/redaction.ts";
import {
  EXPAND_DEFAULT,
  expandFlag,
  neededExpansions,
  PERSON_FLAGS,
  readExpand,
  readPersonFilter,
} from "../selection/service-filters.ts";

export interface ResponsesTailOptions {
  /** Unix seconds; null: from now on. */
  readonly since: number | null;
  readonly trend: string | null;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly personPhone: string | null;
  readonly rows: RowFilters;
  readonly redact: boolean;
  readonly expand: readonly Expansion[] | null;
  readonly intervalMs: number;
  readonly wrap: boolean;
  readonly forward: ForwardTarget | null;
}

const INTERVAL = "5s";

const TAIL_FLAGS: readonly FlagRecord[] = [
  { flag: "--since", value: "time", text: "begin with responses answered or edited at or after", otherwise: "now" },
  { flag: "--interval", value: "duration", text: "time between two requests", default: INTERVAL },
  { flag: "--forward-to", value: "url", text: "post each answer to this URL, signed like a webhook" },
  {
    flag: "--secret",
    value: "text",
    text: "signing key",
    otherwise: "a new one, which is shown",
    environment: "SURVEYCTL_WEBHOOK_SECRET",
  },
  { flag: "--trend", value: "id", text: "only responses of this trend" },
  ...PERSON_FLAGS,
];

export function registerResponsesTail(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "tail",
    summary: "show survey responses as they arrive, or post them to a URL",
    examples: [
      "surveyctl responses tail --score 0-6",
      "surveyctl responses tail --forward-to http://localhost:3000/hooks/survey",
      "surveyctl responses tail --since 1h --forward-to http://localhost:3000/hooks/survey",
    ],
    exits: [EXIT.failed, EXIT.auth, EXIT.refused, EXIT.interrupted, EXIT.terminated],
    flags: [
      ...TAIL_FLAGS,
      ...ROW_FLAGS,
      REDACT_FLAG,
      expandFlag(EXPAND_DEFAULT),
      { flag: "--wrap", text: "wrap wide text in tables instead of cutting it" },
    ],
    columns: RESPONSES,
  });
  context.action(command, async (deps, flags) => runResponsesTail(deps, await readTail(deps, flags)));
}

async function readTail(deps: Deps, flags: Flags): Promise<ResponsesTailOptions> {
  if (flags.text("--query") !== null)
    throw new UsageError("--query: tail does not end; filter its lines with: surveyctl responses tail -o ndjson | jq");
  const url = flags.text("--forward-to");
  const secret = flags.text("--secret") ?? (deps.env["SURVEYCTL_WEBHOOK_SECRET"] || null);
  if (url === null && flags.text("--secret") !== null) throw new UsageError("--secret requires --forward-to");
  const redact = flags.is("--redact");
  if (url !== null && redact) throw new UsageError("--forward-to and --redact cannot be used together");
  if (url !== null && deps.options.dryRun)
    throw new UsageError("--forward-to and --dry-run cannot be used together", {
      hint: "without --forward-to, the answers are only shown",
    });
  const seconds = flags.parse("--interval", parseDuration) ?? parseDuration(INTERVAL, "--interval");
  if (seconds === 0) throw badValue("--interval", "0", "a duration of at least 1s");
  return {
    since: readTime(deps, flags, "--since", "first"),
    trend: flags.parse("--trend", parseName),
    ...readPersonFilter(flags),
    rows: readRowFilters(flags),
    redact,
    expand: readExpand(flags),
    intervalMs: seconds * 1000,
    wrap: flags.is("--wrap"),
    forward: url === null ? null : { url, secret },
  };
}

/** Ends by a signal, or by an error that waiting does not cure. */
export async function runResponsesTail(deps: Deps, options: ResponsesTailOptions): Promise<ExitCode> {
  const { forward, rows, trend } = options;
  const forwarder = forward === null ? null : await openForwarder(deps, forward);
  const resource = forwarder === null ? withSearch(RESPONSES, rows) : FORWARDED;
  const output = await openListOutput(deps, { resource, wrap: options.wrap, live: true });
  const work = withClient(forSelection(deps, options), (client) =>
    follow(deps, options, { client, output, forwarder }),
  );
  try {
    return await withRefusals(work, noTrend(trend));
  } finally {
    forwarder?.close();
    if (deps.signal.aborted) await output.end();
  }
}

interface Opened {
  readonly client: Client;
  readonly output: ListOutput;
  readonly forwarder: Forwarder | null;
}

async function follow(deps: Deps, options: ResponsesTailOptions, opened: Opened): Promise<never> {
  const { client, output, forwarder } = opened;
  const filterPage = createPageFilter(options.rows);
  const asked = forwarder === null ? (options.expand ?? neededExpansions(deps)) : (["person", "notes"] as const);
  const redaction = options.redact ? createRedaction(deps, asked) : null;
  const expand = redaction?.expand ?? asked;
  const { watch, since } = await startWatch(deps, client, options, expand === null ? null : [...expand]);
  if (options.since === null) for await (const page of watch.look()) forwarder?.know(page);
  if (deps.streams.err.isTTY) await writeDone(deps, "Waiting for answers. Press Ctrl-C to stop.");
  const show = async (page: RowPage): Promise<void> => {
    const wanted = filterPage === null ? page : filterPage(page);
    if (wanted.rows.length === 0) return;
    if (forwarder === null) return output.write(redaction === null ? wanted : redaction.page(wanted));
    for await (const row of forwarder.send(wanted, since)) await output.write(row);
  };
  for (let isAway = false, hasLooked = false; ;) {
    try {
      for await (const page of watch.look()) await show(page);
      hasLooked = true;
      if (isAway) await writeNote(deps, "the service answers again");
      isAway = false;
    } catch (error) {
      if (!hasLooked || !isOutage(error) || asksTooLong(deps, error)) throw error;
      if (!isAway) await writeWarning(deps, `${error.what}; asking again every ${options.intervalMs / 1000} s`);
      isAway = true;
    }
    await deps.clock.sleep(options.intervalMs, deps.signal);
  }
}

/**
 * Failures that may be over by the next look. Those of the first look are final: a wrong address would be waited for in
 * vain.
 */
function isOutage(error: unknown): error is ConnectionError | TimeoutError | ServiceError {
  return [ConnectionError, TimeoutError, ServiceError, RateLimitedError, BadReplyError].some(
    (kind) => error instanceof kind,
  );
}

/** True when the service names a wait that `--max-wait` does not allow. */
function asksTooLong({ options }: Deps, error: Error): boolean {
  const asked = error instanceof RateLimitedError || error instanceof ServiceError ? error.retryAfterMs : null;
  return asked !== null && asked > (options.maxWaitMs ?? RETRY_LIMITS.maxWaitMs);
}

/** A row that was never edited, and has a time of change nevertheless, or is listed without one. */
function provesChanged(row: JsonObject): boolean {
  const at = timeOf(row, "updated_at");
  return at === null || at === timeOf(row, "created_at");
}

async function startWatch(
  deps: Deps,
  client: Client,
  options: ResponsesTailOptions,
  expand: string[] | null,
): Promise<{ readonly watch: ListWatch; readonly since: number | null }> {
  const { openWatch, WATCH_OVERLAP_SECONDS } = await import("../../../../bulk/export/watch.ts");
  const { trend, personId, personEmail } = options;
  const parameters: Parameters = { trend, person_id: personId, person_email: personEmail, expand };
  const call = { route: ROUTES.listResponses, parameters: { ...parameters, per_page: PER_PAGE_MAX } };
  const newest = options.since === null ? await newestChange(deps, client, parameters) : null;
  const since = options.since ?? (newest === null ? null : newest - WATCH_OVERLAP_SECONDS);
  const watch = openWatch({
    changed: {
      list: pageList(client, { ...call, parameters: { ...call.parameters, order: "asc:updated_at" } }, UPDATED),
      keys: UPDATED_KEYS,
    },
    created: { list: pageList(client, call, CREATED), keys: keysOf("id", "created_at") },
    isUnstamped: (row) => timeOf(row, "updated_at") === null,
    provesChanged,
    versions: RESPONSE_VERSIONS,
    since,
    now: () => client.serverNow(),
    perPage: PER_PAGE_MAX,
    concurrency: deps.options.concurrency ?? CONCURRENCY_DEFAULT,
    signal: deps.signal,
  });
  return { watch, since };
}

/** By the rows' own times, whatever the clocks say: Unix seconds; null when there is no row yet. */
async function newestChange(deps: Deps, client: Client, parameters: Parameters): Promise<number | null> {
  let newest: number | null = null;
  for (const [order, perPage] of [
    ["desc", 1],
    ["desc:updated_at", PER_PAGE_MAX],
  ] as const) {
    const request = { ...parameters, order, per_page: perPage };
    const { rows } = await client.page({ route: ROUTES.listResponses, parameters: request, signal: deps.signal });
    for (const row of rows) newest = Math.max(newest ?? 0, changedAt(row) ?? 0);
  }
  return newest === null ? null : Math.min(newest, client.serverNow());
}
