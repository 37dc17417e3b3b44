/** Help topics: what concerns every command, narrow enough for a man page's indentation on 80 columns. */
import { EXIT_MEANINGS } from "../exit-codes.ts";
import { DATA_FLAGS } from "../command/data-place.ts";
import { dataSection, globalSections } from "./help-layout.ts";

const TOPIC_WIDTH = 73;

const FLAGS = `Every command has these flags, before or after its name.

${globalSections(TOPIC_WIDTH)}`;

const DATA = `"serve" and "service" work on a data file, or on a PostgreSQL database:

${dataSection(DATA_FLAGS, TOPIC_WIDTH)}`;

const ENVIRONMENT = `Environment variables:
  SURVEYCTL_PROFILE    saved connection to use, as --profile
  SURVEYCTL_BASE_URL   base URL of the service, as --base-url
  SURVEYCTL_API_KEY    API key; there is no flag, since command lines are
                       visible to other users
  SURVEYCTL_OUTPUT     output format, as --output
  SURVEYCTL_TIME       time format, as --time
  SURVEYCTL_SETTLE     how long to check whether a write arrived, as
                       --settle
  SURVEYCTL_DEBUG      1: as --verbose; 2: as --verbose --verbose
  SURVEYCTL_DATA       data file of "serve" and "service", as --data
  SURVEYCTL_DATABASE   PostgreSQL of "serve" and "service", as --database
  SURVEYCTL_SMTP       mail server of "serve", as --smtp
  SURVEYCTL_SMS_GATEWAY, SURVEYCTL_SMS_HEADER
                       SMS gateway of "serve" and its credentials, as
                       --sms-gateway and --sms-header
  SURVEYCTL_WEBHOOK_SECRET
                       key of the signatures of "responses tail", as
                       --secret
  NO_COLOR             disables colour; FORCE_COLOR and CLICOLOR are
                       honoured too
  SURVEYCTL_PAGER, PAGER
                       pager for long lists and help on a terminal, such
                       as less; set to "cat" to disable
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                       proxies, with credentials if needed; NO_PROXY
                       lists names, addresses and blocks (10.0.0.0/8), or
                       is *; this machine is never reached through one
  TZ                   time zone, such as Europe/Berlin, as --tz
  NODE_EXTRA_CA_CERTS  file of additional certificate authorities
  XDG_CONFIG_HOME      directory of the configuration (default ~/.config)
  XDG_DATA_HOME        directory of the profile "local"
                       (default ~/.local/share)

Precedence: flag, environment variable, profile, default. Empty variables
are ignored.
`;

const OUTPUT = `Standard output carries data only; progress, notes, warnings and errors
go to standard error.

Formats (-o, --output):
  table    for people; the default on a terminal. Local times, fitted to
           the terminal's width: columns without a value give way first,
           then the least important; --wrap shows long text in full
  record   one block per row, with every column
  tsv      the default in a pipe: no header; tab, newline, carriage
           return and backslash are written \\t \\n \\r \\\\; a cell that
           begins with " is quoted as in csv
  csv      RFC 4180 with a header; the default of export. Maps and arrays
           are JSON in one cell. Computed numbers have one decimal,
           probabilities three, shares four, in tsv as well
  json     what the API sent, unchanged: an array for lists, an object
           for single things; indented on a terminal. metrics adds
           fields of its own, and --raw leaves them out
  ndjson   the same, one object per line

--columns a,b,c selects columns and their order; dotted paths reach
inside, such as person.email or person_properties.plan. In a pipe they
are values only, one line for each row or single thing.
--jq EXPRESSION prints a part of the JSON, by JMESPath: --jq nps,
--jq '[].email', --jq '[?score<\`7\`].comment', --jq 'length(@)'. Text is
printed without quotes, anything else as JSON.
--time unix|iso|local|relative sets the time format; --tz names a zone.

"list" shows the first 50 rows; --limit N or --all shows more.
"responses list" shows the oldest first, --newest the newest. "export"
writes everything.

With -o json or -o ndjson, standard error holds JSON lines only, one
object per line with one key:
  {"error":{"code","message","status","details","hint"}}
  {"warning":"..."}
  {"note":"..."}
An error always has its five keys, null where empty.
`;

const DATES = `Times on input:
  1767225600                Unix seconds; also milliseconds
  2026-01-31                its first second; for --until its last
  2026-01-31T09:30          local time, or that of --tz
  2026-01-31T09:30:00Z      with a zone; +02:00 works too
  2026-01-31 09:30:00+00    as databases print it, also with UTC
  now, today, yesterday, tomorrow, and 90m, 24h, 7d, 2w: that long ago;
  +7d is that long from now
Periods, for --period and wherever a date is accepted:
  2026-05, 2026-Q1, 2026-W05, 2026  a month, quarter, ISO week, year
  this-week, last-week      Monday to Sunday; -month, -quarter, -year too
Durations: 90 (seconds), 90s, 15m, 2h, 1d, 2w. --delay, and a delay
column of an import, also take tomorrow or a later time.

--period last-month is short for --since last-month --until last-month;
--verbose shows the resolved range. Ranges include both ends.
--compare previous, report and digest compare a full day, week, month,
quarter or year with the one before it, and any other range with as much
time before it.

Zones: commands read and show local time, or that of --tz Europe/Berlin.
The service uses its project's zone, service settings --tz (UTC by
default), for windows, --daily-limit and the quiet hours of texts.
Windows: --days mon-fri, mon,wed,fri or any; --hours 5-10, any, or 22-6
over midnight, which belongs to the day on which it begins.
`;

const IMPORT = `Bulk import: people import, responses import, autopilot import, and
autopilot remove --from.

  1. Check    the whole file is read before the first request; every
              problem is listed as file:line: column: message, problems
              of one kind together. With invalid rows nothing is sent,
              unless --skip-invalid. Rows that share an address or a
              number are one person; of those the first is used, unless
              --on-duplicate says otherwise. One number with two
              addresses is a problem. Responses are the same if person,
              time, score and comment are.
  2. Ask      people import can email your customers: pass --send or
              --no-send, or add a send column. --no-send overrides every
              row. On a terminal a plan with the number of surveys is
              shown and confirmed. Our own service also tells who would
              be saved without a survey, and why.
  3. Send     with --concurrency requests at once, never faster than
              --rate. A file that changes meanwhile stops the import.
  4. Record   <file>.<command>.results.csv, such as
              customers.csv.people-import.results.csv, has the outcome
              of every line: scheduled, saved, throttled, suppressed,
              pending, failed, unknown, skipped; and the reason. The
              journal next to it is what --resume needs.
  5. Resume   the same command with --resume, which starts if there is
              nothing to continue. If the file has grown, its new rows
              are sent. Nobody is sent a second survey: rows that may
              have arrived are looked up first. A person who is not
              found is sent to once more, unless the service had
              accepted the row; all other unknown rows are repeated only
              with --retry-unknown.
              Failed rows are retried; --failed-to FILE writes them to
              a CSV file. What the service refused is refused again:
              correct it, and import it as a new file.

A file that has no rows, or has not changed since it was imported, sends
nothing, with status 0. responses import adds only responses that neither
its earlier runs nor the service have; a response without created_at is
not known to the service. autopilot remove --from always runs.

Nobody is surveyed twice in a short time: our own service sends a person
at most one survey in 30 days unless "surveyctl service throttle" changes
that; last_sent_at counts. Such rows are "throttled", those with a survey
already scheduled "pending", people who unsubscribed or bounced
"suppressed". Other services do not tell: their rows are "saved".
Members of Autopilot follow its frequency: surveyctl help scheduling.

"surveyctl imports list" lists imports and the outcomes of their rows;
"surveyctl imports clean" removes the journals of finished ones.

Columns: email, phone_number (or phone), name, channel, delay, send,
last_sent_at, email_update, phone_number_update; every other column is a
property. Headers match without regard to case. --map "E-Mail
Address=email" renames, --map "First name+Last name=name" joins two
columns, --ignore-column X ignores. Cells are trimmed; empty ones are
absent. A row with an update and send=false can change nothing else.
Our own service merges properties into those stored with the person; an
empty cell leaves one as it is. With --replace-properties a row that has
properties removes the others.

Files are CSV, TSV, or NDJSON with one object a line, plain or gzip.
They are read as UTF-8, or UTF-16 with a byte order mark; --encoding
names another, such as windows-1252. Rows of empty cells are skipped,
missing cells at the end of a row count as empty, and ="0123" is 0123.
White space and invisible characters in headers make no difference. A
first line such as sep=; sets the delimiter, as Excel writes it.
people import --sample 10% takes a random share of the rows: the same
file gives the same rows.

--skip-suppressed skips people who bounced or unsubscribed; a row with a
phone number is looked up first. People for whom the file itself has an
unsubscribed_at, bounced_at or the like are not surveyed without
--include-suppressed.

--dry-run shows the counts of the plan, which our own service is asked
for, and the first three requests: on a terminal as a table, with what
each column is taken as. --explain LINE shows how one line is read.
`;

const EXPORT = `Exports are made for cron: complete, in the order of the API, and written
atomically.

  surveyctl responses export --since 2026-01-01 --out responses.csv

The file is written next to its target, synced, then renamed; a run that
fails, or gets fewer rows than the service counts, leaves the old file
untouched. Rows that arrive during the run neither shift nor duplicate
others.

The format follows -o, or else the file's name (.csv .tsv .json .ndjson,
also before .gz), or else csv. --gzip compresses. --checksum writes
<file>.sha256.

Incremental: --state FILE remembers how far the last run came and asks
only for what is new, and for responses that changed; --append adds it to
the file.

  surveyctl responses export --state r.state --append \\
      --out responses.csv -q

CSV for spreadsheets: --excel, short for --bom --crlf --excel-safe.
--flatten adds one column for each property.
`;

const STATISTICS = `A score is an estimate: other people would have answered otherwise.
metrics says how far off it may be, from the three counts of the answers
(n).

  nps_low, nps_high  the interval; 95 % of such intervals hold the true
                     score. --confidence 0.9 makes them narrower, and
                     wrong more often.
  margin             half its width
  change             with --compare: the difference of the two scores
  p                  how often chance alone gives as great a change
  verdict            rise or fall where the interval of the change is
                     above or below zero, else no evidence; too few
                     under 10 answers on either side. With --by it
                     follows from q, since among many periods one
                     changes by chance

Method: adjusted Wald. Three answers are added (3/4 detractors, 1 1/2
passives, 3/4 promoters), then NPS +- z * sqrt(V / n), where V is the
share of promoters and detractors less the square of the NPS, cut off at
+-100. The score that is shown stays the raw one, so the interval does
not lie evenly around it; change is the difference of the adjusted ones.
Sources: Rocks 2016, The American Statistician 70:365; Lewis and Sauro
2021. The interval held the true score in 94 to 97 of 100 cases, computed
exactly for 20 to 50 answers.

--segment compares the values of a property of the answers, or of their
people where an answer has none; a note says so. q is what p
becomes among many rows (Benjamini and Hochberg): of the changes with a q
of 0.05 or less, one in twenty is chance; the others have no colour.
Values with fewer than --min-n answers are not shown. --explain-change
splits the change of the raw score (Kitagawa): mix is that other people
answered, within that the same kind of people answered otherwise; every
answer counts.
A value is associated with a score and need not be its cause; a property
that follows from the score, such as "churned", tells nothing about it.

--assert 'nps_high>=40' exits with 6 if the whole interval is below 40,
and --assert 'nps_low>=40' unless the whole interval is 40 or more. An
interval holds for one look: where the true score is just at the limit,
a check that runs daily fails on some day by chance.

On a terminal of 60 columns or more --by draws its intervals as a chart,
--segment as a line for each value, highest score first, and --histogram
a bar for each score. In a pipe the same numbers are rows.

What an interval does not cover:
  - who chose to answer: people who did not may think otherwise
  - several answers by one person, which count as answers of several
    people, within a period and between two that are compared
  - language, channel and time of day, which change answers by themselves
  - scores that were not given by people, such as links opened by a
    mail filter
  - season: compare with the same months of last year as well

100 answers a month cannot show a change of less than about 32 points.
`;

const SCHEDULING = `When surveys leave the service:

  Autopilot   sends only in its window: service autopilot --days mon-fri
              --hours 5-10, on the wall clock of service settings --tz.
              mon,wed,fri is a list, any is always open; 22-6 goes over
              midnight and belongs to the day on which it begins. Texts
              have 9-18, less the quiet hours of serve --sms-quiet.
  First       surveys of new members are spread over one frequency, or
              sent at once with --first now. A member who was surveyed
              in any way less than one frequency ago is surveyed one
              frequency after that.
  Recurring   surveys follow the one before after one frequency of open
              time. A frequency under 14 days is counted by the calendar.
  Changes     of window, frequency or zone move the surveys that wait.
              --active after a pause spreads what fell due over a week.
  Throttle    keeps surveys outside Autopilot apart; one that was sent
              puts off the member's next one, too. To try a survey twice,
              use a second address, such as you+2@example.com.
  Limit       service settings --daily-limit 500, or serve
              --daily-limit: what is due beyond it waits for the next
              day, the oldest first, Autopilot after single surveys.
  Reminders   service reminder 5d: once for each survey, to those who
              have not answered, in the same window. Turning them off,
              or another --channel, stops those that wait.
  Rehearsal   service rehearse --until 365d shows what all this will do,
              day by day, over a copy of the data. Nothing is sent.
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
]);
