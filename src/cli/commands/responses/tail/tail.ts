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
import { ROUTES } from "../../../../contract/routes.ts";
import type { RowPage } from "../../../../contract/row-page.ts";
import { badValue, parseDuration } from "../../../args/values.ts";
import { type Deps, withClient } from "../../../kit/deps.ts";
import { writeDone, writeNote, writeWarning } from "../../../kit/notes.ts";
import { noTrend, withRefusals } from "../../../kit/refusals.ts";
import { parseStart } from "../../../kit/time-flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { CREATED, keysOf, pagedList, timeOf, UPDATED } from "../../../export/sources.ts";
import { WRAP_FLAG } from "../../../kit/rows/list-rows.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import type { ListOutput } from "../../../render/columns.ts";
import { openListOutput } from "../../../render/list-output.ts";
import { RESPONSES } from "../../../render/resources.ts";
import { ROW_FILTERS, TREND } from "../../shared/row-filters.ts";
import { changedAt, RESPONSE_VERSIONS, UPDATED_KEYS } from "../export.ts";
import type { Forwarder } from "./forward.ts";
import {
  EXPAND,
  forSelection,
  neededExpansions,
  PERSON_FILTER,
  type PersonFilter,
  REDACT,
  withSearch,
} from "../selection.ts";
import { createShaping, type Shaping } from "../shaping.ts";

const SECRET_VARIABLE = "SURVEYCTL_WEBHOOK_SECRET";

export const tail = defineCommand({
  name: "tail",
  summary: "show survey responses as they arrive, or post them to a URL",
  examples: [
    "surveyctl responses tail --score 0-6",
    "surveyctl responses tail --forward-to http://localhost:3000/hooks/survey",
    "surveyctl responses tail --since 1h --forward-to http://localhost:3000/hooks/survey",
  ],
  flags: {
    since: {
      value: "time",
      text: "start with responses answered or edited at or after this time",
      otherwise: "now",
      parse: parseStart,
    },
    interval: { value: "duration", text: "time between two requests", default: "5s", parse: parseInterval },
    url: {
      flag: "--forward-to",
      value: "url",
      text: "post each answer to this URL, signed like a webhook",
      conflicts: ["--redact"],
    },
    secret: {
      value: "text",
      text: "signing key",
      otherwise: "a new one, which is shown",
      environment: SECRET_VARIABLE,
      requires: ["--forward-to"],
    },
    trend: TREND,
    person: PERSON_FILTER,
    rows: ROW_FILTERS,
    redact: REDACT,
    expand: EXPAND,
    wrap: WRAP_FLAG,
  },
  columns: RESPONSES,
  columnsVary: true,
  exits: [EXIT.failed, EXIT.auth, EXIT.refused, EXIT.interrupted, EXIT.terminated],
  async run(deps, { since, interval, url, trend, person, rows, redact, wrap, ...input }) {
    if (url !== null && deps.options.dryRun)
      throw new UsageError("--forward-to and --dry-run cannot be used together", {
        hint: "without --forward-to, the answers are only shown",
      });
    if (deps.options.query !== null)
      throw new UsageError(
        "--query: tail does not end; filter its lines with: surveyctl responses tail -o ndjson | jq",
      );
    const secret = input.secret ?? (deps.env[SECRET_VARIABLE] || null);
    const forwarder = url === null ? null : await (await import("./forward.ts")).openForwarder(deps, url, secret);
    const resource = forwarder === null ? withSearch(rows) : forwarder.resource;
    const expand = forwarder === null ? (input.expand ?? neededExpansions(deps)) : (["person", "notes"] as const);
    const output = await openListOutput(deps, { resource, wrap, live: true });
    const shaping = await createShaping(deps, { rows, redact }, expand);
    const work = withClient(forSelection(deps, { person, rows }), (client) =>
      follow(deps, { since, trend, ...person, interval }, { client, output, forwarder, shaping }),
    );
    try {
      return await withRefusals(work, noTrend(trend));
    } finally {
      forwarder?.close();
      if (deps.signal.aborted) await output.end();
    }
  },
});

function parseInterval(text: string, place: string): number {
  const seconds = parseDuration(text, place);
  if (seconds === 0) throw badValue(place, "0", "a duration of at least 1s");
  return seconds;
}

interface WatchOptions extends PersonFilter {
  readonly since: number | null;
  readonly trend: string | null;
  readonly interval: number;
}

interface Opened {
  readonly client: Client;
  readonly output: ListOutput;
  readonly forwarder: Forwarder | null;
  readonly shaping: Shaping;
}

async function follow(deps: Deps, watched: WatchOptions, opened: Opened): Promise<never> {
  const { client, output, forwarder, shaping } = opened;
  const { watch, since } = await startWatch(deps, client, watched, shaping.expand);
  if (watched.since === null) for await (const page of watch.look()) forwarder?.know(page);
  if (deps.streams.err.isTTY) await writeDone(deps, "Waiting for answers. Press Ctrl-C to stop.");
  const show = async (page: RowPage): Promise<void> => {
    const wanted = shaping.page(page);
    if (wanted.rows.length === 0) return;
    if (forwarder === null) return output.write(wanted);
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
      if (!isAway) await writeWarning(deps, `${error.what}; asking again every ${watched.interval} s`);
      isAway = true;
    }
    await deps.clock.sleep(watched.interval * 1000, deps.signal);
  }
}

/** Failures that may be temporary. The first request is an exception: if it fails, the address may be wrong. */
function isOutage(error: unknown): error is ConnectionError | TimeoutError | ServiceError {
  return [ConnectionError, TimeoutError, ServiceError, RateLimitedError, BadReplyError].some(
    (kind) => error instanceof kind,
  );
}

function asksTooLong({ options }: Deps, error: Error): boolean {
  const asked = error instanceof RateLimitedError || error instanceof ServiceError ? error.retryAfterMs : null;
  return asked !== null && asked > (options.maxWaitMs ?? RETRY_LIMITS.maxWaitMs);
}

/** An unchanged row in the list of changes proves that the list includes all rows. */
function provesChanged(row: JsonObject): boolean {
  const at = timeOf(row, "updated_at");
  return at === null || at === timeOf(row, "created_at");
}

async function startWatch(
  deps: Deps,
  client: Client,
  watched: WatchOptions,
  expand: string[] | null,
): Promise<{ readonly watch: ListWatch; readonly since: number | null }> {
  const { openWatch, WATCH_OVERLAP_SECONDS } = await import("../../../../bulk/export/watch.ts");
  const { trend, personId, email } = watched;
  const parameters: Parameters = { trend, person_id: personId, person_email: email, expand };
  const call = { route: ROUTES.listResponses, parameters: { ...parameters, per_page: PER_PAGE_MAX } };
  const newest = watched.since === null ? await newestChange(deps, client, parameters) : null;
  const since = watched.since ?? (newest === null ? null : newest - WATCH_OVERLAP_SECONDS);
  const watch = openWatch({
    changed: {
      list: pagedList(client, { ...call, parameters: { ...call.parameters, order: "asc:updated_at" } }, UPDATED),
      keys: UPDATED_KEYS,
    },
    created: { list: pagedList(client, call, CREATED), keys: keysOf("id", "created_at") },
    isUnstamped: (row) => timeOf(row, "updated_at") === null,
    provesChanged,
    versions: RESPONSE_VERSIONS,
    since,
    now: () => client.serverNow(),
    perPage: PER_PAGE_MAX,
    concurrency: deps.options.concurrency,
    signal: deps.signal,
  });
  return { watch, since };
}

/** Uses the newest time in the rows, because our clock may differ from the service's. Null if there are no rows. */
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
