import type { Clock } from "../../../runtime/clock.ts";
import { isLoopbackHost } from "../../../runtime/name-resolver.ts";
import { onAbort } from "../../../runtime/on-abort.ts";
import { type SessionFacts, type SessionOutcome, SmtpSession } from "../smtp/smtp-session.ts";
import type { SmtpServer } from "../smtp/smtp-url.ts";
import { createReporter, type DoctorFinding, type MailSetup, usable } from "./finding.ts";

const TIMEOUTS = {
  connect: 10_000,
  greeting: 30_000,
  command: 30_000,
  afterDot: 30_000,
  idle: 10_000,
  quit: 2_000,
} as const;
const DAY_MS = 86_400_000;
const EXPIRES_SOON_DAYS = 14;
const SIZE_MIN = 100_000;

const connection = createReporter("connection", "the server can be reached from here");
const certificate = createReporter("certificate", "a valid certificate; without one, nothing is sent (RFC 8314)");
const login = createReporter("auth", "the relay lets us send (530 5.7.0 and 535 5.7.8 stop all mail)");
const capabilities = createReporter(
  "ehlo",
  "the server carries our messages (552 5.3.4; RFC 6531 for other alphabets)",
);

interface SessionReport {
  readonly server: SmtpServer;
  readonly failure: SessionOutcome | null;
  readonly facts: SessionFacts;
}

export async function checkConnection(
  setup: MailSetup,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<DoctorFinding[]> {
  const server = usable(setup.server);
  if (server === null)
    return [connection, certificate, login, capabilities].map((report) => report("skipped", "no mail server"));
  const { certificates } = setup;
  const session = new SmtpSession({ server, certificates, timeouts: TIMEOUTS, clock });
  const stopWaiting = onAbort(signal, () => session.destroy("stopped"));
  const failure = await session.open();
  const report = { server, failure, facts: session.facts };
  await session.quit();
  stopWaiting();
  signal.throwIfAborted();
  return [checkReached(report), checkCertificate(report, clock.now()), checkLogin(report), checkCapabilities(report)];
}

function failureAt({ failure }: SessionReport, stages: readonly string[]): string | null {
  if (failure === null || !stages.includes(failure.reply.stage)) return null;
  const { code, enhancedCode, text } = failure.reply;
  return [code, enhancedCode, text].filter((part) => part !== null).join(" ");
}

function checkReached(report: SessionReport): DoctorFinding {
  const { server, facts } = report;
  const words = failureAt(report, ["connect", "ehlo"]);
  if (words !== null) return connection("problem", `${server.host}:${server.port}: ${words}`);
  const isInClear = failureAt(report, ["starttls"]) === null && facts.tls === null;
  const how = isInClear ? ", without TLS" : facts.tls === null ? "" : `, ${facts.tls.protocol}`;
  return connection("ok", `${server.host}:${server.port}${how}`);
}

function checkCertificate(report: SessionReport, now: number): DoctorFinding {
  const words = failureAt(report, ["starttls"]);
  if (words !== null) return certificate("problem", words);
  const { tls } = report.facts;
  if (tls === null) return certificate("skipped", "no TLS");
  const days = Math.floor((Date.parse(tls.validUntil) - now) / DAY_MS);
  const said = `issued by ${tls.issuer}, valid for ${days} more days`;
  return certificate(days < EXPIRES_SOON_DAYS ? "warning" : "ok", said);
}

function checkLogin(report: SessionReport): DoctorFinding {
  const { server, facts } = report;
  const words = failureAt(report, ["auth"]);
  if (words !== null) return login("problem", words);
  if (report.failure !== null) return login("skipped", "not reached");
  if (server.credentials !== null) return login("ok", `logged in as ${server.credentials.user}`);
  const isOffered = facts.capabilities.some((line) => /^AUTH\b/i.test(line));
  return isOffered && !isLoopbackHost(server.host)
    ? login("warning", "the server offers a login, and the mail server's URL has no user")
    : login("ok", "no login");
}

function checkCapabilities(report: SessionReport): DoctorFinding {
  const lines = report.facts.capabilities;
  if (lines.length === 0) return capabilities("skipped", "not reached");
  const size = Number(
    lines.map((line) => /^SIZE +(\d+)$/i.exec(line)?.[1]).find((digits) => digits !== undefined) ?? 0,
  );
  if (size > 0 && size < SIZE_MIN) return capabilities("problem", `messages have at most ${size} bytes`);
  const isWorldly = lines.some((line) => /^SMTPUTF8\b/i.test(line));
  const note = isWorldly ? "" : "; no SMTPUTF8: mail to addresses with other letters before the @ fails";
  return capabilities("ok", `${lines.join(", ")}${note}`);
}
