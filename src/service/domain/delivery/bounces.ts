/**
 * Reports that come back after a survey was sent: delivery reports, complaints and automatic replies. Each is matched
 * to its survey and to the change that it makes. Words in free text alone mark nobody.
 */
import { emailKey } from "../../../contract/text/email.ts";
import { resumeMember } from "../surveys/autopilot/autopilot.ts";
import { NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { BounceEvidence, ReportedSurvey, ReportOutcome, SoftBouncer, Transaction } from "../ports.ts";
import { readSettings } from "../projects/settings.ts";
import { recordBounce, unsubscribePerson } from "../people/suppressions.ts";
import { logAttempt, confirmSent } from "./deliveries.ts";
import { REPORT_OUTCOMES } from "./rows.ts";

/** The result of a report for one recipient. */
export interface ReportedRecipient {
  /** The recipient's address as the report has it, before and after rewriting; empty when it names none. */
  readonly addresses: readonly string[];
  /** `failed`, `delayed`, `delivered`, `relayed`, `expanded`; null when it was left out. Only `failed` counts. */
  readonly action: string | null;
  /** The meaning of the reply: the address is bad, it is refused for a passing reason, or somebody else is to blame. */
  readonly verdict: "bounced" | "soft" | "none";
  readonly code: number | null;
  /** Such as `5.1.1` (RFC 3463). */
  readonly enhancedCode: string | null;
  /** The server's words. */
  readonly text: string | null;
}

export interface Report {
  /** By what way it came: `mail`, `hook`, or the provider's name. */
  readonly source: string;
  /** Tells it from all others of its source; null: one report of its kind for each survey. */
  readonly id: string | null;
  readonly kind: "delivery-status" | "complaint" | "unsubscribe" | "auto-reply" | "other";
  /** The token of the envelope sender that it came to. */
  readonly token: string | null;
  /** Of the message that it is about, without `<>`. */
  readonly messageId: string | null;
  readonly recipients: readonly ReportedRecipient[];
  /** Every survey has an envelope of its own, so that an address alone proves nothing: anybody can write that. */
  readonly needsProof: boolean;
}

/** The time after a survey or its reminder in which a report may name it by its address alone. */
const ADDRESS_SECONDS = 14 * 86_400;

/**
 * Records a report: once, however often it comes. The survey is that of the envelope's token, else that of the
 * Message-ID, else the newest one mailed to the recipient's address within 14 days. A report that gives the address as
 * bad marks its owner, if it is still theirs; a complaint unsubscribes. By the address alone neither happens where
 * surveys have envelopes of their own: the report is logged.
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

/** The project whose surveys all reports name by token or Message-ID; otherwise `all`. */
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

/** Somebody leaves, as a provider says: that counts however long ago a survey was sent. */
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

/** Our messages have one recipient each; others are members of a list, or where it was forwarded to. */
function chooseRecipient(survey: ReportedSurvey, recipients: readonly ReportedRecipient[]): ReportedRecipient {
  const theirs = recipients.find((recipient) => isTheirs(survey, recipient));
  return theirs ?? recipients.find(({ action }) => action === "failed") ?? recipients[0] ?? NOBODY;
}

function isTheirs({ row: { email } }: ReportedSurvey, { addresses }: ReportedRecipient): boolean {
  return email !== null && addresses.some((address) => emailKey(address) === emailKey(email));
}

/** Of reports without a proof a survey's log has one line, however many come: strangers could fill it. */
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
  // Somebody may leave, come back and leave again.
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

/** The log's words for it. A hook that names a message alone speaks of the person that the message was sent to. */
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

/** The reason stays with the address even when its owner comes back. */
async function recordComplaint(tx: Transaction, { project, row }: ReportedSurvey): Promise<ReportOutcome> {
  await unsubscribePerson(tx, project, row.personId);
  if (row.email !== null)
    await tx.suppressions.add(project.id, "email", row.email, { reason: "complaint", at: tx.now });
  return "unsubscribed";
}

/** A survey that a sender is sending at this moment ends by itself; the others are not sent again. */
async function bounce(tx: Transaction, { project, row }: ReportedSurvey): Promise<ReportOutcome> {
  const now = await tx.deliveries.byId(project.id, row.requestId);
  if (now !== null && now.claimer === null && now.state !== "cancelled")
    await tx.queue.settle(now, { state: "bounced", dueAt: null, sentAt: null, reason: null, isAttempt: false });
  await recordBounce(tx, project, row.personId);
  return "bounced";
}

/** Surveys of a person that are looked at for soft bounces, and how many of them make the address one to list. */
const SOFT_WINDOW = 5;
const SOFT_LISTED = 3;

/**
 * An address that is refused again and again for a passing reason is listed; it bounces only where a project says so.
 */
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

/** Addresses that 3 of the last 5 surveys could not be delivered to for a passing reason, by person. */
export async function listSoftBounces(
  tx: Transaction,
  project: Project,
  page: { readonly after: number; readonly limit: number },
): Promise<readonly SoftBouncer[]> {
  return tx.reports.listSoft(project.id, { ...page, window: SOFT_WINDOW, least: SOFT_LISTED });
}

export interface ClearedBounce {
  /** When the address bounced, Unix seconds. */
  readonly bouncedAt: number;
  /** The words and the time of the reply; null for a bounce from before replies were kept. */
  readonly evidence: BounceEvidence | null;
}

/**
 * Lets mail go to an address again that has bounced; Autopilot goes on with its owner. Says what it was. Throws
 * NotFoundError when the address has not bounced.
 */
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
