/** Lines are short enough to be indented in an 80-column man page. */
import { EXIT_MEANINGS } from "../exit-codes.ts";
import { DATA_FLAGS } from "../kit/data/data-place.ts";
import { dataSection, globalSections } from "./help-layout.ts";

const TOPIC_WIDTH = 73;

const FLAGS = `These flags work with every command, before or after its name.

${globalSections(TOPIC_WIDTH)}`;

const DATA = `"serve" and "service" need a data file or a PostgreSQL database:

${dataSection(DATA_FLAGS, TOPIC_WIDTH)}`;

const ENVIRONMENT = `Environment variables:
  SURVEYCTL_PROFILE    saved connection to use; same as --profile
  SURVEYCTL_BASE_URL   base URL of the service; same as --base-url
  SURVEYCTL_API_KEY    API key; there is no flag for it because other
                       users can see command lines
  SURVEYCTL_OUTPUT     output format; same as --output
  SURVEYCTL_TIME       time format; same as --time
  SURVEYCTL_SETTLE     how long to keep checking whether a write arrived
                       after its response was lost; same as --settle
  SURVEYCTL_DEBUG      1 is the same as --verbose, 2 the same as -vv
  SURVEYCTL_DATA       data file for "serve" and "service"; same as
                       --data
  SURVEYCTL_DATABASE   PostgreSQL database for "serve" and "service";
                       same as --database
  SURVEYCTL_SMTP       mail server for "serve"; same as --smtp
  SURVEYCTL_SMS_GATEWAY, SURVEYCTL_SMS_HEADER
                       SMS gateway for "serve" and its credentials; same
                       as --sms-gateway and --sms-header
  SURVEYCTL_WEBHOOK_SECRET
                       signing secret of "responses tail"; same as
                       --secret
  NO_COLOR             disables color; FORCE_COLOR and CLICOLOR are
                       respected too
  SURVEYCTL_PAGER, PAGER
                       pager for long lists and help on a terminal, such
                       as less; set to "cat" to disable
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                       proxies, with credentials if needed; NO_PROXY is
                       *, or a list of names, addresses and networks
                       (10.0.0.0/8); requests to this machine never use
                       a proxy
  TZ                   time zone, such as Europe/Berlin; same as --tz
  NODE_EXTRA_CA_CERTS  file with additional certificate authorities
  XDG_CONFIG_HOME      configuration directory (default ~/.config)
  XDG_DATA_HOME        directory of the profile "local"
                       (default ~/.local/share)

The order of precedence is: flags, environment variables, the profile,
the default. Empty variables are ignored.
`;

const OUTPUT = `Data goes to standard output; progress, notes, warnings and errors go to
standard error.

Formats (-o, --output):
  table    the default on a terminal. Times are local, and columns that
           don't fit are left out: empty ones first, then the least
           important. --wrap shows long text in full
  record   one block per row, with every column
  markdown a table for documents; no text is cut
  tsv      the default in a pipe. No header; tab, newline, carriage
           return and backslash are written as \\t \\n \\r \\\\; a cell
           that begins with " is quoted as in csv
  csv      RFC 4180 with a header; the default for export. Maps and
           arrays are JSON in one cell. In csv and tsv, computed
           numbers have one decimal, probabilities three, shares four
  json     the API's response, unchanged: an array for a list, an object
           for a single item; indented on a terminal. "metrics" adds
           computed fields; --raw leaves them out
  ndjson   the same, one object per line
  parquet  exports only: see surveyctl help export

--columns a,b,c selects columns and their order. Dotted paths select
nested values, such as person.email or person_properties.plan. In a pipe
--columns prints values only, one line per row or item.
--query EXPRESSION filters the JSON with JMESPath: --query nps,
--query '[].email', --query '[?score<\`7\`].comment',
--query 'length(@)'. Text is printed without quotes, anything else as
JSON.
--time unix|iso|local|relative sets the time format; --tz sets the zone.

"list" prints the first 50 rows; use --limit N or --all for more.
"responses list" is oldest first; --newest reverses it. "export" writes
everything.

With -o json or -o ndjson, standard error is JSON too, one object per
line with one key:
  {"error":{"code","message","status","details","hint"}}
  {"warning":"..."}
  {"note":"..."}
An error always has all five keys; those without a value are null.
`;

const DATES = `Times in flags and files:
  1767225600                Unix seconds; also milliseconds
  2026-01-31                the start of that day; with --until, its end
  2026-01-31T09:30          local time, or in the zone given by --tz
  2026-01-31T09:30:00Z      with a zone; +02:00 works too
  2026-01-31 09:30:00+00    as databases print it; UTC works too
  now, today, yesterday, tomorrow, monday, last monday
  'today 9:00', 'mon 9:00'  a weekday means the last one, or the next one
                            for --delay and other future times
  90m, 24h, 7d, 2w          that long ago; '3 days ago' works too, and
                            +7d is 7 days from now
Periods, for --period and wherever a date is accepted:
  2026-05, 2026-Q1, 2026-W05, 2026  month, quarter, ISO week, year
  this-, last-, next-week   Monday to Sunday; -month, -quarter, -year too
Durations: 90 (seconds), 90s, 15m, 2h, 1d, 2w. --delay, and the delay
column of an import, also accept 'tomorrow 9:00' or a future time.

--period last-month means --since last-month --until last-month;
--verbose prints the resolved range. Ranges include both ends.
"--compare previous", "report" and "digest" compare a whole day, week,
month, quarter or year with the one before it, and any other range with
the same length of time before it.

Zones: commands read and print local time; --tz Europe/Berlin sets
another zone.
The service uses the project's zone (service settings --tz, UTC by
default) for sending hours, --daily-limit, and quiet hours for texts.
Days and hours: --days "mon-fri", "mon,wed,fri" or "any"; --hours "5-10",
"any", or "22-6", which continues past midnight and belongs to the day it
starts on.
`;

const IMPORT = `Bulk import: people import, responses import, autopilot import, and
autopilot remove --from.

  1. Check    The whole file is read before the first request. Problems
              are listed as file:line: column: message, grouped by kind.
              If a row is invalid, nothing is sent, unless you pass
              --skip-invalid. Rows that share an address or a number are
              one person: the first row counts, unless --on-duplicate
              says otherwise. One phone number with two e-mail addresses
              is reported as a problem.
              Responses with the same person, time, score and comment are
              duplicates.
  2. Confirm  people import can email your customers: pass --send or
              --no-send, or add a send column. --no-send overrides the
              column. On a terminal you see how many surveys would be
              sent, and are asked to confirm. If the server is
              surveyctl, you also see who would be saved but not
              surveyed, and why.
  3. Send     Up to --concurrency requests run in parallel, never faster
              than --rate. If the file changes, the import stops.
  4. Record   <file>.<command>.results.csv, such as
              customers.csv.people-import.results.csv, lists every line
              with its outcome (scheduled, saved, throttled, suppressed,
              pending, failed, unknown or skipped) and the reason. A
              journal is kept next to it; --resume needs it.
  5. Resume   Run the same command with --resume to continue, or to send
              the new rows of a file that has grown. Nobody gets a second
              survey: rows that may have arrived are looked up first. If
              the person isn't found, the row is sent again, unless the
              journal says that the service accepted it. Rows that are
              still unknown are sent again only with --retry-unknown.
              Failed rows are retried; --failed-to FILE writes them to a
              CSV file. Rows that the service rejected would be rejected
              again: correct them and import them as a new file.

If a file has no rows, or hasn't changed since it was imported, nothing
is sent and the exit status is 0. autopilot remove --from always runs.
responses import skips responses that an earlier run sent or the service
already has; without created_at, the service can't recognize a duplicate.

"surveyctl serve" surveys a person at most once in 30 days; a
last_sent_at in the file counts as a survey. To change that interval, use
"surveyctl service throttle". A row is
"throttled" if the person was surveyed recently, "pending" if a survey is
already scheduled, "suppressed" if the person unsubscribed or bounced.
Other servers don't report this: their rows are "saved". Autopilot
members are surveyed at Autopilot's frequency: see surveyctl help
scheduling.

"surveyctl imports list" lists imports and the outcomes of their rows;
"surveyctl imports clean" removes the journals of finished ones.
"surveyctl imports undo FILE" undoes an import into surveyctl serve. It
deletes people that the import created, unless they have changed since,
cancels its surveys that haven't been sent, removes its responses and
Autopilot members, and restores names and properties. If it keeps
anything, it lists what and why, and exits with 3. It needs the import's
journal and the API key that the import used, and is safe to run again.
In the results file, the columns "person" (created or updated) and
"before" show what would be undone. To import the file again afterwards,
pass a different --results.

Columns: email, phone_number (or phone), name, channel, delay, send,
last_sent_at, email_update, phone_number_update. Any other column is a
property. Case doesn't matter in headers. --map "E-Mail Address=email"
renames a column, --map "First name+Last name=name" joins two,
--ignore-column X leaves one out. Cells are trimmed; empty cells mean no
value. A row with send=false and an email_update or phone_number_update
can't change anything else.
surveyctl serve adds properties to the stored ones, and an empty cell
leaves the stored value alone. With --replace-properties, a row's
properties replace all stored ones; a row without properties changes
none.

Files can be CSV, TSV, or NDJSON with one object per line, plain or gzip,
in UTF-8, or in UTF-16 with a byte order mark; use --encoding for others,
such as windows-1252. Rows of empty cells are skipped, missing cells at
the end of a row count as empty, and ="0123" is read as 0123. White space
and invisible characters in headers are ignored. A first line such as
sep=; sets the delimiter, as in Excel. people import --sample 10% picks a
random share of the rows, always the same ones for the same file.

--skip-suppressed skips people who bounced or unsubscribed. For rows with
a phone number, it may take an extra request to look them up. People with
an unsubscribed_at, bounced_at or similar in the file are not surveyed,
unless you pass --include-suppressed.

--dry-run prints how many rows would be sent, saved or skipped, and the
first three requests. The counts take throttling and suppressions into
account only if the server is surveyctl. On a terminal, it prints tables
that show how each column is read and the first three rows. --explain
LINE shows how one line is read.
`;

const EXPORT = `Exports are made for cron: they are complete, in the order of the API,
and written atomically.

  surveyctl responses export --since 2026-01-01 --out responses.csv

The data goes to a temporary file, which replaces the old one at the end.
If the run fails, or gets fewer rows than the service counts, the old
file stays as it was. Rows added during the run don't shift or duplicate
others.

-o sets the format. Without -o, the file name does (.csv .tsv .json
.ndjson .parquet; all but .parquet can end in .gz). The default is csv.
--gzip compresses; --checksum writes <file>.sha256.

Parquet, for DuckDB, pandas and warehouses, has a type for each column:
ids are strings, scores are integers, times are timestamps in UTC even
with --time, and maps and lists are JSON text. It is compressed and can't
be appended to: with --state, use a new --out file for each run.

Incremental: --state FILE remembers how far the last run got, so the next
one asks only for new rows and for responses that changed; --append adds
them to the file.

  surveyctl responses export --state r.state --append \\
      --out responses.csv -q

For spreadsheets, use --excel: it adds a byte order mark, ends lines with
CRLF, and prefixes cells that look like formulas with '. --flatten adds a
column for each property.
`;

const STATISTICS = `A score is an estimate: a different set of people would have given a
different one. metrics shows how far off it could be, based on the counts
of promoters, passives and detractors and their total (n).

  nps_low, nps_high  the interval. 95% of such intervals contain the true
                     score; --confidence 0.9 makes them narrower, and
                     wrong more often
  margin             half the width of the interval
  change             with --compare: the difference between the scores
  p                  how often chance alone causes a change this large
  verdict            "rise" or "fall" if the interval of the change is
                     above or below zero, otherwise "no evidence"; "too
                     few" if either side has fewer than 10 answers. With
                     --by it uses q (see below), because with many
                     periods some changes are due to chance

Method: adjusted Wald. Three answers are added (3/4 detractors, 1 1/2
passives, 3/4 promoters); the interval is then NPS +- z * sqrt(V / n),
limited to +-100, where V is the share of promoters and detractors minus
the square of the NPS. The score shown is the raw one, so it isn't
exactly in the middle of its interval; change is the difference of the
adjusted scores. Sources: Rocks 2016, The American Statistician 70:365;
Lewis and Sauro 2021. With 20 to 50 answers, the interval contains the
true score in 94% to 97% of cases.

--segment compares the values of a property. If a response doesn't have
the property, the person's is used, and a note says so. q adjusts p for
the number of rows (Benjamini and Hochberg): of the changes with a q of
0.05 or less, about one in twenty is due to chance. Only these are shown
in color. Values with fewer than --min-n answers are left out.
--explain-change splits the change in the raw score (Kitagawa): "mix" is
the part due to different kinds of people answering, "within" the part
due to the same kinds answering differently. Here --min-n has no effect.
A value with a low score isn't necessarily the cause of it, and a
property that results from the score, such as "churned", explains
nothing.

--assert 'nps_high>=40' exits with 6 if the whole interval is below 40;
--assert 'nps_low>=40' exits with 6 unless the whole interval is 40 or
above. If the true score is right at the limit, a check that runs every
day will eventually fail by chance.

On a terminal with at least 60 columns, --by draws the intervals as a
chart, --segment draws a line per value, highest score first, and
--histogram a bar per score. In a pipe the same numbers are printed as
rows.

What an interval doesn't cover:
  - who chose to answer: those who didn't may think differently
  - several answers by one person, which are counted as if they came from
    different people, within a period and across the periods compared
  - language, channel and time of day, which affect answers
  - scores that no person gave, for example because a mail filter opened
    a link
  - the season: compare with the same months of last year too

With 100 answers a month, you can't detect a change of less than about 32
points.
`;

const SCHEDULING = `When surveys are sent:

  Autopilot   Sends only on certain days, at certain hours. Set them with
              "service autopilot --days mon-fri --hours 5-10", and the
              project's time zone with "service settings --tz".
              "mon,wed,fri" and "any" work too; 22-6 continues past
              midnight and belongs to the day it starts on. Texts are
              sent from 9 to 18, except during quiet hours (serve
              --sms-quiet).
  First       First surveys of new members are spread over one interval,
              or sent immediately with --first now. If a member was
              surveyed less than one interval ago, by Autopilot or not,
              the first one is sent one interval after that survey.
  Recurring   The next survey follows one interval later. For intervals
              of 14 days or more, only the time within Autopilot's days
              and hours counts.
  Changes     Changing the days, hours, frequency or zone moves waiting
              surveys. After a pause, "service autopilot --active"
              spreads overdue ones over a week.
  Throttle    The minimum time between surveys outside Autopilot. A
              survey outside Autopilot also postpones the person's next
              Autopilot survey. To send yourself a second test survey,
              use another address, such as you+2@example.com.
  Limit       service settings --daily-limit 500, or serve --daily-limit.
              Surveys beyond it wait for the next day. The oldest are
              sent first, Autopilot's last.
  Reminders   service reminder 5d sends one reminder per survey, on the
              same days and hours, to people who haven't answered.
              Turning reminders off, or choosing another --channel,
              cancels pending ones.
  Rehearsal   service rehearse --until 365d shows the result day by day,
              on a copy of the data. Nothing is sent.
`;

const UPGRADE = `To upgrade surveyctl and its data:

  1. Back up with the version you have:
       surveyctl service backup before-upgrade.db --data survey.db
     Also keep survey.db.erasures and the flags you run "serve" with.
  2. Stop every "serve" of the old version.
  3. Install the new version and start "serve" again. It changes the
     schema if needed, and logs data_upgraded. On PostgreSQL, "service
     migrate" can do that beforehand.
  4. Check:
       surveyctl service health --data survey.db
       surveyctl service delivery status --data survey.db

An older version refuses data with a newer schema. To go back, stop
"serve", install the old version, and restore the backup:

  surveyctl service restore before-upgrade.db --data old.db

The backup lacks everything saved since it was made; export that first,
with the new version. Sending is paused after a restore, because surveys
sent since the backup are still scheduled in it. Look at them with
"service delivery list --state scheduled" before "service resume".
`;

const EXIT_CODES = `Exit statuses:
${Object.entries(EXIT_MEANINGS)
  .map(([status, meaning]) => `  ${status.padEnd(5)}${meaning}\n`)
  .join("")}`;

export const TOPICS: ReadonlyMap<string, string> = new Map([
  ["flags", FLAGS],
  ["data", DATA],
  ["environment", ENVIRONMENT],
  ["exit-codes", EXIT_CODES],
  ["output", OUTPUT],
  ["dates", DATES],
  ["scheduling", SCHEDULING],
  ["import", IMPORT],
  ["export", EXPORT],
  ["statistics", STATISTICS],
  ["upgrade", UPGRADE],
]);
