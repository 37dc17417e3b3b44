/** Help topics: what concerns every command, at most 80 columns wide. */
import { EXIT_MEANINGS } from "./help-layout.ts";

const ENVIRONMENT = `Environment variables:
  SURVEYCTL_PROFILE    which saved connection, as --profile
  SURVEYCTL_BASE_URL   the service's address, as --base-url
  SURVEYCTL_API_KEY    the key; there is no flag, since command lines are public
  SURVEYCTL_OUTPUT     output format, as --output
  SURVEYCTL_TIME       how times are written, as --time
  SURVEYCTL_SETTLE     how long to check whether a write arrived, as --settle
  SURVEYCTL_DEBUG      1: as --verbose; 2: as --verbose --verbose
  SURVEYCTL_DATA       the data file of "serve" and "service", as --data
  NO_COLOR             set: no colour; FORCE_COLOR and CLICOLOR are honoured too
  SURVEYCTL_PAGER, PAGER
                       a command that long lists and help go through on a
                       terminal, as in less; cat is none
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                       proxies, with credentials if need be; NO_PROXY lists
                       names, addresses and blocks (10.0.0.0/8), or is *
  NODE_EXTRA_CA_CERTS  a file of further certificate authorities
  XDG_CONFIG_HOME      where the configuration lies (default ~/.config)
  XDG_DATA_HOME        where the profile "local" keeps its data
                       (default ~/.local/share)

A flag goes before a variable, a variable before a profile, a profile before the
default. An empty variable is an unset one.
`;

const OUTPUT = `Standard output carries data and nothing else; progress, notes, warnings and
errors go to standard error.

Formats (-o, --output):
  table    for people; the default on a terminal. Local times, fitted to the
           terminal's width, the least important columns dropped first
  tsv      the default in a pipe: no header; tab, newline, carriage return and
           backslash are written \\t \\n \\r \\\\
  csv      RFC 4180 with a header; the default of export. Maps and arrays are
           JSON in one cell
  json     what the API sent, whole: an array for lists, an object for one
           thing; indented on a terminal, as it came in a pipe
  ndjson   the same, one object a line

--columns a,b,c chooses columns and their order; dotted paths reach inside, as
in person.email or person_properties.plan.
--time unix|iso|local|relative writes times otherwise; --tz names a zone.

"list" shows the first 50 rows; --limit N or --all show more. "export" is always
everything.

Under -o json and -o ndjson an error is also one JSON object on standard error:
  {"error":{"code","message","status","details","hint"}}
`;

const DATES = `Times on input:
  1767225600                      Unix seconds
  2026-01-31                      a date: its first second for --since and the
                                  like, its last for --until and the like
  2026-01-31T09:30                local time, or that of --tz
  2026-01-31T09:30:00Z            with a zone; +02:00 works too
  now, today, yesterday           --until today is the end of the day
  90m, 24h, 7d, 2w                that long ago

Durations: 90 (seconds), 90s, 15m, 2h, 1d, 2w.

Filters are inclusive at both ends. --tz ZONE overrides the system's time zone,
as in --tz Europe/Berlin.
`;

const IMPORT = `Bulk import: people import, responses import, autopilot import, and
autopilot remove --from.

  1. Check    the whole file is read before the first request; every problem is
              listed as file:line: column: message, problems of one kind
              together. With invalid rows nothing is sent, unless
              --skip-invalid.
  2. Ask      people import can email your customers: pass --send or --no-send,
              or add a send column. --no-send overrides every row. On a terminal
              a plan with the number of surveys is shown and confirmed.
  3. Send     with --concurrency requests at once, never faster than --rate. A
              file that changes meanwhile stops the import.
  4. Record   <file>.<command>.results.csv, as in
              customers.csv.people-import.results.csv, has the outcome of every
              line: scheduled, saved, failed, unknown, skipped. The journal
              beside it is what --resume needs.
  5. Resume   the same command with --resume. Nobody is sent a second survey:
              rows that may have arrived are looked up first, and unknown ones
              are repeated only with --retry-unknown. Failed rows are tried
              again; --failed-to FILE writes them as a CSV file.

"surveyctl import status" lists imports and the outcomes of their rows;
"surveyctl import clean" removes the journals of finished ones.

Columns: email, phone_number (or phone), name, channel, delay, send,
last_sent_at, email_update, phone_number_update; every other column is a
property. Headers match without regard to case. --map "E-Mail Address=email"
renames, --ignore-column X ignores. An empty cell is absent.

--skip-suppressed skips people who bounced or unsubscribed; a row with a phone
number is looked up first. --dry-run shows the counts and the first three
requests; --explain LINE shows how one line is read.
`;

const EXPORT = `Exports are for cron: whole or absent, everything, in the order of the API.

  surveyctl responses export --since 2026-01-01 --out responses.csv

The file is written beside its target, synced, then renamed; a run that fails
leaves the old file untouched. What arrives while it runs neither shifts nor
doubles rows.

The format follows -o, else the file's name (.csv .tsv .json .ndjson, also
before .gz), else csv. --gzip compresses. --checksum writes <file>.sha256.

Incremental: --state FILE remembers how far the last run came and asks only for
what is new or changed; --append adds it to the file.

  surveyctl responses export --state r.state --append --out responses.csv -q

CSV for spreadsheets: --bom --crlf --excel-safe. --flatten gives each property a
column of its own.
`;

const EXIT_CODES = `Exit statuses:
${Object.entries(EXIT_MEANINGS)
  .map(([status, meaning]) => `  ${status.padEnd(5)}${meaning}\n`)
  .join("")}`;

export const TOPICS: ReadonlyMap<string, string> = new Map([
  ["environment", ENVIRONMENT],
  ["exit-codes", EXIT_CODES],
  ["output", OUTPUT],
  ["dates", DATES],
  ["import", IMPORT],
  ["export", EXPORT],
]);
