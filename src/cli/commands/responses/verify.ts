import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import { type BrokenClaim, createClaimCheck, readClaims, type SummaryClaim } from "../../../insight/claims.ts";
import { createMasker, type Masker } from "../../../insight/redact.ts";
import { nameOfInput, readTextInput } from "../../args/text-file.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { countOf, formatCount, writeDone } from "../../command/notes.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import { AssertionError } from "../../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { toSafeText } from "../../render/safe-text.ts";
import { categoryOf, commentOf, freeAnswers } from "./selection/row-filters.ts";
import { forSelection, SELECTION_FLAGS, openSelection, readSelection, type Selection } from "./selection/selection.ts";

interface VerifyOptions extends Omit<Selection, "redact"> {
  readonly file: string;
}

export function registerResponsesVerify(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "verify",
    summary: "check the quotations, ids and numbers of a summary against the responses",
    operands: [["<file>", "the summary, as text or Markdown, or - for standard input"]],
    examples: [
      "surveyctl responses verify summary.md",
      "surveyctl responses verify summary.md --since 2026-03-01 --until 2026-03-31",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.assertion],
    flags: SELECTION_FLAGS,
  });
  context.action(command, (deps, flags, [file = ""]) =>
    runResponsesVerify(deps, { file, ...readSelection(deps, flags) }),
  );
}

/** Throws AssertionError, which names each claim that does not hold. */
async function runResponsesVerify(deps: Deps, { file, ...selection }: VerifyOptions): Promise<ExitCode> {
  const claims = readClaims(await readTextInput(deps.streams.in, file));
  if (claims.length === 0) {
    await writeDone(deps, `nothing to check: ${nameOfInput(file)} has no quotation, id, count, percentage or NPS`);
    return EXIT.done;
  }
  const check = createClaimCheck(claims);
  // Rows come as the masker needs them; what it replaces is counted by nobody.
  const reader = openSelection(deps, { ...selection, redact: false }, { expanded: true });
  const masker = createMasker({ numbered: false });
  const checkRows = withClient(forSelection(deps, selection), async (client) => {
    for await (const { rows } of reader.pages(client))
      for (const row of rows) check.add({ id: idOf(row), category: categoryOf(row), texts: textsOf(row, masker) });
  });
  await withRefusals(checkRows, noTrend(selection.trend));
  const broken = check.broken();
  const held = countOf(claims.length, "claim", "claims");
  if (broken.length > 0) {
    const failures = broken.map(describe);
    const many = broken.length === 1 ? "does" : "do";
    const heading = `${formatCount(broken.length)} of ${held} ${many} not hold:`;
    throw new AssertionError(failures, [heading, ...failures].join("\n  "));
  }
  await writeDone(deps, describeChecked(claims, check.counts.responses));
  return EXIT.done;
}

function idOf({ id }: JsonObject): string {
  return typeof id === "string" ? id : JSON.stringify(id ?? null);
}

/** The words of a response as the service has them, and as a bundle shows them: redacted, escaped, or both. */
function textsOf(row: JsonObject, masker: Masker): string[] {
  if (wordsOf(row).length === 0) return [];
  const texts = [...wordsOf(row), ...wordsOf(masker.row(row))];
  return [...new Set(texts.flatMap((text) => [text, escapeLines(text)]))];
}

function wordsOf(row: JsonObject): readonly string[] {
  return [commentOf(row), ...freeAnswers(row).map(({ text }) => text)].filter((text) => text !== "");
}

function escapeLines(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map(toSafeText)
    .join("\n");
}

const SHOWN_CHARACTERS = 80;

function describe({ claim, why }: BrokenClaim): string {
  return `line ${claim.line}: ${nameOf(claim)} ${why}`;
}

function nameOf(claim: SummaryClaim): string {
  if (claim.kind === "id") return `[${claim.id}]`;
  if (claim.kind === "score") return `NPS ${claim.value}`;
  if (claim.kind === "percentage") return `${claim.value} % ${claim.of}`;
  if (claim.kind === "count") return `${formatCount(claim.count)} ${claim.of}`;
  const text = claim.text.replace(/\s+/g, " ").trim();
  return `"${text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`}"`;
}

const CLAIM_KINDS = [
  ["quotation", "quotation", "quotations"],
  ["id", "id", "ids"],
  ["count", "count", "counts"],
  ["percentage", "percentage", "percentages"],
  ["score", "NPS", "NPS"],
] as const;
const ALWAYS_SHOWN: ReadonlySet<SummaryClaim["kind"]> = new Set(["quotation", "id", "count"]);

/** A summary that claims little is no proof, so the numbers are said. */
function describeChecked(claims: readonly SummaryClaim[], responses: number): string {
  const counted = CLAIM_KINDS.map(([kind, one, many]) => {
    const count = claims.filter((claim) => claim.kind === kind).length;
    return { text: countOf(count, one, many), isShown: count > 0 || ALWAYS_SHOWN.has(kind) };
  });
  const texts = counted.filter(({ isShown }) => isShown).map(({ text }) => text);
  return `Checked ${texts.slice(0, -1).join(", ")} and ${texts.at(-1)} against ${countOf(responses, "response", "responses")}; all hold.`;
}
