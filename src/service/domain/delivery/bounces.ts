/**
 * Handles bounces, complaints and unsubscribes that are reported after a survey was sent. Free text alone never changes
 * a person.
 */
import { settleClaim } from "./claims.ts";
import { emailKey } from "../../../contract/text/email.ts";
import { resumeMember } from "../surveys/autopilot/autopilot.ts";
import { NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { BounceEvidence, ReportedSurvey, ReportOutcome, SoftBouncer, Transaction } from "../ports.ts";
import { readSettings } from "../projects/settings.ts";
import { recordBounce, unsubscribePerson } from "../people/suppressions.ts";
import { logAttempt, confirmSent } from "./deliveries.ts";
import { REPORT_OUTCOMES } from "./rows.ts";

export interface ReportedRecipient {
  /** The recipient's address before and after rewriting; can be empty. */
  readonly addresses: readonly string[];
  /** `failed`, `delayed`, `delivered`, `relayed`, `expanded`, or null. Only `failed` counts. */
  readonly action: string | null;
  /** `bounced` is a bad address, `soft` a temporary rejection, and `none` a problem that isn't the recipient's. */
  readonly verdict: "bounced" | "soft" | "none";
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly text: string | null;
}

export interface Report {
  readonly source: string;
  /** Unique per source. If null, each kind of report is recorded only once per survey. */
  readonly id: string | null;
  readonly kind: "delivery-status" | "complaint" | "unsubscribe" | "auto-reply" | "other";
  /** The token in the envelope sender. */
  readonly token: string | null;
  readonly messageId: string | null;
  readonly recipients: readonly ReportedRecipient[];
  /**
   * True if each survey has its own envelope sender. A report that names only an address is then just logged, because
   * anyone could have written it.
   */
  readonly needsProof: boolean;
}

/** How long after a survey or reminder a report can be matched by address alone. */
const ADDRESS_SECONDS = 14 * 86_400;

/**
 * Matches a report by the envelope's token, else by Message-ID, else by address, and records it only once. A bad
 * address marks the person as bounced if they still have it; a complaint unsubscribes the person.
 */
export async function recordReport(tx: Transaction, report: Report): Promise<ReportOutcome> {
  const { source, id, kind, recipients } = report;
  if (id !== null && !(await tx.reports.note(source, id))) return "repeated";
  const named = await findNamed(tx, report);
  if (kind === "auto-reply" || kind === "other") {
    if (kind === "auto-reply" && named !== null) await confirmSent(tx, named.project, named.row.requestId);
    return "ignored";
  }
  if (named !== null) return apply(tx, report, named, chooseRecipient(named, recipients));
  const outcomes: ReportOutcome[] = [];
  for (const recipient of recipients) {
    const survey = await findMailed(tx, recipient, leaves(report) ? 0 : tx.now - ADDRESS_SECONDS);
    outcomes.push(survey === null ? "unmatched" : await applyByAddress(tx, report, survey, recipient));
  }
  return REPORT_OUTCOMES.find((outcome) => outcomes.includes(outcome)) ?? "unmatched";
}

export async function recordReports(tx: Transaction, reports: readonly Report[]): Promise<ReportOutcome[]> {
  const outcomes: ReportOutcome[] = [];
  for (const report of reports) outcomes.push(await recordReport(tx, report));
  return outcomes;
}

/** Returns the project if all reports name messages of the same one, by token or Message-ID; otherwise `all`. */
export async function reportedProject(tx: Transaction, reports: readonly Report[]): Promise<number | "all"> {
  const projects = new Set<number | "all">();
  for (const report of reports) projects.add((await findNamed(tx, report))?.project.id ?? "all");
  const [first = "all"] = projects;
  return projects.size === 1 ? first : "all";
}

async function findNamed(tx: Transaction, { token, messageId }: Report): Promise<ReportedSurvey | null> {
  const byToken = token === null ? null : await tx.reports.byToken(token);
  return byToken ?? (messageId === null ? null : tx.reports.byMessageId(messageId));
}

/** Whether the report unsubscribes the person, however long ago the survey was sent. */
function leaves({ kind, source }: Report): boolean {
  return kind === "unsubscribe" || (kind === "complaint" && source !== "mail");
}

async function findMailed(
  tx: Transaction,
  { addresses }: ReportedRecipient,
  since: number,
): Promise<ReportedSurvey | null> {
  for (const address of addresses) {
    const survey = await tx.reports.lastMailed(address, since);
    if (survey !== null) return survey;
  }
  return null;
}

const NOBODY: ReportedRecipient = {
  addresses: [],
  action: null,
  verdict: "none",
  code: null,
  enhancedCode: null,
  text: null,
};

/** Our messages have one recipient; any other addresses belong to list members or forwarding targets. */
function chooseRecipient(survey: ReportedSurvey, recipients: readonly ReportedRecipient[]): ReportedRecipient {
  const theirs = recipients.find((recipient) => isTheirs(survey, recipient));
  return theirs ?? recipients.find(({ action }) => action === "failed") ?? recipients[0] ?? NOBODY;
}

function isTheirs({ row: { email } }: ReportedSurvey, { addresses }: ReportedRecipient): boolean {
  return email !== null && addresses.some((address) => emailKey(address) === emailKey(email));
}

/** Logs only the first unproven report about each survey, because strangers could fill the log with them. */
async function applyByAddress(
  tx: Transaction,
  report: Report,
  survey: ReportedSurvey,
  recipient: ReportedRecipient,
): Promise<ReportOutcome> {
  if (!report.needsProof) return apply(tx, report, survey, recipient);
  const { project, row } = survey;
  if (!(await tx.reports.note(report.source, `${project.id}/${row.requestId}/unproven`))) return "repeated";
  await log(tx, survey, recipient, "unproven");
  return "logged";
}

async function apply(
  tx: Transaction,
  report: Report,
  survey: ReportedSurvey,
  recipient: ReportedRecipient,
): Promise<ReportOutcome> {
  const { project, row } = survey;
  const { source, kind, id } = report;
  const result = resultOf(report, survey, recipient);
  const once = `${project.id}/${row.requestId}/${result}`;
  // People can unsubscribe more than once.
  if (id === null && kind !== "unsubscribe" && !(await tx.reports.note(source, once))) return "repeated";
  await confirmSent(tx, project, row.requestId);
  await log(tx, survey, kind === "unsubscribe" ? { ...recipient, text: recipient.text ?? source } : recipient, result);
  switch (result) {
    case "complaint":
      return recordComplaint(tx, survey);
    case "unsubscribed":
      await unsubscribePerson(tx, project, row.personId);
      return "unsubscribed";
    case "bounced":
      return bounce(tx, survey);
    case "soft":
      return countSoft(tx, survey);
    default:
      return "logged";
  }
}

/** A report without addresses is about the message's only recipient. */
function resultOf({ kind }: Report, survey: ReportedSurvey, recipient: ReportedRecipient): string {
  const { action, verdict, addresses } = recipient;
  if (kind === "complaint") return kind;
  if (kind === "unsubscribe") return "unsubscribed";
  if (action !== "failed") return action ?? "unclear";
  return verdict !== "none" && (addresses.length === 0 || isTheirs(survey, recipient)) ? verdict : "failed";
}

async function log(
  tx: Transaction,
  { project, row, secrets }: ReportedSurvey,
  { code, enhancedCode, text }: Pick<ReportedRecipient, "code" | "enhancedCode" | "text">,
  outcome: string,
): Promise<void> {
  const attempt = { stage: "report", code, enhancedCode, text, host: null, serverId: null, ms: 0 };
  await logAttempt(tx, { project, requestId: row.requestId, secrets }, outcome, attempt);
}

/** The address keeps the complaint even if its owner resubscribes. */
async function recordComplaint(tx: Transaction, { project, row }: ReportedSurvey): Promise<ReportOutcome> {
  await unsubscribePerson(tx, project, row.personId);
  if (row.email !== null)
    await tx.suppressions.add(project.id, "email", row.email, { reason: "complaint", at: tx.now });
  return "unsubscribed";
}

/** Cancels the person's other pending surveys, but not one in flight. */
async function bounce(tx: Transaction, { project, row }: ReportedSurvey): Promise<ReportOutcome> {
  const now = await tx.deliveries.byId(project.id, row.requestId);
  if (now !== null && now.claimer === null && now.state !== "cancelled")
    await settleClaim(tx, now, { state: "bounced", dueAt: null, sentAt: null, reason: null, isAttempt: false });
  await recordBounce(tx, project, row.personId);
  return "bounced";
}

/** A person is listed after SOFT_LISTED soft bounces in their last SOFT_WINDOW surveys. */
const SOFT_WINDOW = 5;
const SOFT_LISTED = 3;

/** Repeated soft bounces count as a bounce only if the project's settings say so. */
async function countSoft(tx: Transaction, survey: ReportedSurvey): Promise<ReportOutcome> {
  const { project, row } = survey;
  const { softBounces } = await readSettings(tx, project);
  if (softBounces === null) return "soft";
  const count = await tx.reports.countSoft(project.id, row.personId, SOFT_WINDOW);
  if (count < Number(softBounces)) return "soft";
  const text = `${count} of the last ${SOFT_WINDOW} surveys were refused for a passing reason`;
  await log(tx, survey, { code: null, enhancedCode: null, text }, "bounced");
  return bounce(tx, survey);
}

/** Ordered by person. */
export async function listSoftBounces(
  tx: Transaction,
  project: Project,
  page: { readonly after: number; readonly limit: number },
): Promise<readonly SoftBouncer[]> {
  return tx.reports.listSoft(project.id, { ...page, window: SOFT_WINDOW, least: SOFT_LISTED });
}

export interface ClearedBounce {
  readonly bouncedAt: number;
  /** The reply and its time; null for bounces recorded before replies were stored. */
  readonly evidence: BounceEvidence | null;
}

/** Allows mail to a bounced address again, and resumes Autopilot. Throws NotFoundError if it hasn't bounced. */
export async function clearBounce(tx: Transaction, project: Project, email: string): Promise<ClearedBounce> {
  const person = await tx.people.byEmail(project.id, email);
  const kept = await tx.suppressions.list(project.id, "email", email);
  const bouncedAt = person?.bouncedAt ?? kept.find(({ reason }) => reason === "bounce")?.at ?? null;
  if (bouncedAt === null) throw new NotFoundError(`${email} has not bounced in project ${project.name}`);
  await tx.suppressions.remove(project.id, "email", email, "bounce");
  if (person === null) return { bouncedAt, evidence: null };
  const evidence = await tx.reports.lastBounce(project.id, person.id);
  await tx.people.update(project.id, person.id, { bouncedAt: null });
  await tx.reports.forgetSoft(project.id, person.id);
  const cleared = { ...person, bouncedAt: null };
  if (person.unsubscribedAt === null) await resumeMember(tx, project, cleared, "email");
  return { bouncedAt, evidence };
}
