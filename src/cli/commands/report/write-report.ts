import type { Client } from "../../../client/client.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { countAnswers } from "../../../insight/interval.ts";
import { headline, type ReportComment, type ReportFacts } from "../../../insight/report/facts.ts";
import { renderReport } from "../../../insight/report/page.ts";
import { abortTogether, inParallel } from "../../../runtime/parallel.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { formatCount } from "../../../contract/text/whole-number.ts";
import { writeDone, writeNote } from "../../kit/notes.ts";
import { type Refusal, withRefusals } from "../../kit/refusals.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { openOutput } from "../../export/output.ts";
import { isStdout } from "../../export/plan.ts";
import { toShellWord } from "../../render/safe-text.ts";
import { createTimeFormatter } from "../../render/time.ts";
import { completeRequest, type TypedRequest } from "./request.ts";
import { readFacts, type ReportRequest } from "./read-facts.ts";

/** Replaces the file once the report is complete; `-` is stdout. Throws NothingFoundError without answers. */
export async function writeReport(deps: Deps, out: string, typed: TypedRequest): Promise<void> {
  const file = isStdout(out) ? null : out;
  const output = await openOutput(deps, { file, gzip: false, checksum: false });
  try {
    const request = await completeRequest(deps, typed);
    const notes: string[] = [];
    const read = await readFacts(deps, request, describeCommand(request), (note) => notes.push(note));
    const facts = request.links ? await linkComments(deps, read) : read;
    if (countAnswers(facts.counts) === 0)
      throw new NothingFoundError(`no answers in this period${file === null ? "" : `; ${file} was not written`}`);
    await output.sink.write(renderReport(facts));
    const written = await output.close();
    await output.commit(written);
    const target = file ?? "the report to standard output";
    await writeDone(deps, `Wrote ${target} (${formatCount(written.bytes)} B): ${headline(facts)}`);
    for (const note of notes) await writeNote(deps, note);
  } finally {
    await output.discard();
  }
}

function describeCommand(request: ReportRequest): string {
  const { since, until, asOf, by, zone, segments, trend, title, personal, links } = request;
  const iso = createTimeFormatter({ format: "iso", zone: null, now: 0 });
  const words = [
    ["--out", "nps.html"],
    ...(since === null ? [] : [["--since", iso(since)]]),
    ...(until === null ? [] : [["--until", iso(until)]]),
    ["--as-of", iso(asOf)],
    ...(by === null ? [] : [["--by", by]]),
    ...(segments.length === 0 ? [] : [["--segment", segments.join(",")]]),
    ...(trend === null ? [] : [["--trend", trend]]),
    ["--title", title],
    ["--tz", zone],
    ...(links ? [["--links"]] : []),
    ...(personal ? [["--show-personal-data"]] : []),
  ];
  return ["surveyctl", "report", ...words.flat().map(toShellWord)].join(" ");
}

const NO_LINKS: Refusal = { status: 404, words: "this service signs no links", hint: "leave --links out" };

async function linkComments(deps: Deps, facts: ReportFacts): Promise<ReportFacts> {
  const urls = await withClient(deps, (client) =>
    abortTogether(deps.signal, (signal) =>
      inParallel(facts.comments, deps.options.concurrency, (comment) =>
        withRefusals(signedUrl(client, comment, signal), [NO_LINKS]),
      ),
    ),
  );
  return { ...facts, comments: facts.comments.map((comment, index) => ({ ...comment, url: urls[index] ?? null })) };
}

async function signedUrl(client: Client, { id }: ReportComment, signal: AbortSignal): Promise<string | null> {
  const { json } = await client.call({ route: ROUTES.signResponse, placeholders: { id }, signal });
  const { url } = json;
  return typeof url === "string" && /^https?:\/\//.test(url) ? url : null;
}
