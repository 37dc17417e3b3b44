import { isIP } from "node:net";
import { isLoopbackHost } from "../../../runtime/name-resolver.ts";
import { sampleSurvey } from "../../domain/surveys/preview.ts";
import { checkDkimKey, type DkimKey, DkimKeyError, signMail } from "../mail/dkim.ts";
import { NO_SENDER, senderDomain } from "../message/sender.ts";
import { formatSurveyMail, freezeMail } from "../message/survey-mail.ts";
import { describeSmtpServer } from "../smtp/smtp-url.ts";
import { areAligned, createReporter, type DoctorFinding, type MailSetup, usable } from "./finding.ts";

/** Mailbox providers whose DMARC policies forbid others from sending from their addresses. */
const FREE_MAIL = /^(?:gmail|googlemail|yahoo|ymail|aol|outlook|hotmail|live|msn|icloud|me|mac)\.[a-z.]+$/;
const ONE_CLICK = ["list-unsubscribe", "list-unsubscribe-post"] as const;
const FASTEST_PER_SECOND = 50;

export async function checkSettings(setup: MailSetup): Promise<DoctorFinding[]> {
  return [
    checkSender(setup),
    checkPublicUrl(setup),
    checkServer(setup),
    checkTls(setup),
    checkRate(setup),
    checkBounces(setup),
    checkKey(setup),
    checkKeyDomain(setup),
    await checkSignedHeaders(setup),
  ];
}

function checkSender({ from }: MailSetup): DoctorFinding {
  const report = createReporter(
    "sender",
    "one valid From of a domain of yours (Gmail 550 5.7.1, Microsoft 550 5.7.515)",
  );
  if (from === null) return report("problem", "no sender address is set");
  const domain = senderDomain(from);
  if (isIP(domain) > 0 || !domain.includes(".")) return report("problem", `${domain} is not a public domain`);
  if (FREE_MAIL.test(domain)) return report("problem", `${domain} belongs to a mailbox provider; use your own domain`);
  return report("ok", from);
}

function checkPublicUrl({ publicUrl }: MailSetup): DoctorFinding {
  const rule = "one-click unsubscribing over https (RFC 8058; Gmail and Yahoo for more than 5,000 a day)";
  const report = createReporter("public-url", rule);
  if (publicUrl === null) return report("problem", "no public URL is set: links lead to this machine");
  const { hostname, protocol } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, "")) > 0)
    return report("problem", `${publicUrl} has an IP address for a host; Microsoft treats such links as spam`);
  if (protocol !== "https:") return report("problem", `${publicUrl} is not https: mail has no one-click headers`);
  if (!hostname.includes(".")) return report("problem", `${hostname} is not a public host`);
  return report("ok", publicUrl);
}

function checkServer({ server }: MailSetup): DoctorFinding {
  const report = createReporter("server", "a mail server, without which mail is only written to outbox/");
  if (server === null) return report("problem", "no mail server is set");
  return typeof server === "string" ? report("problem", server) : report("ok", describeSmtpServer(server));
}

function checkTls(setup: MailSetup): DoctorFinding {
  const report = createReporter("tls", "TLS to the relay, and from there on (530 5.7.0, Gmail 550 5.7.29)");
  const server = usable(setup.server);
  if (server === null) return report("skipped", "no mail server");
  switch (server.security) {
    case "implicit":
      return report("ok", "TLS from the first byte");
    case "required":
      return report("ok", "STARTTLS is demanded");
    default:
      if (isLoopbackHost(server.host)) return report("ok", "not demanded: the server is this machine");
      if (server.security === "off" && server.credentials !== null)
        return report("problem", "TLS is off: the password is sent in clear");
      return server.security === "off"
        ? report("problem", "TLS is off: mail can be read on its way")
        : report("warning", "TLS is used only if the server offers it; smtps:// or a user and password demand it");
  }
}

function checkRate(setup: MailSetup): DoctorFinding {
  const report = createReporter("rate", "a steady rate below the relay's limit (Gmail 421 4.7.28)");
  if (setup.rate === null) return report("skipped", "no mail server");
  const { count, perSeconds } = setup.rate;
  const said = perSeconds === 1 ? `${count} a second` : `${count} in ${perSeconds} s`;
  return count / perSeconds > FASTEST_PER_SECOND
    ? report("warning", `${said} is faster than most relays accept`)
    : report("ok", said);
}

/** A smart host accepts everything and rejects it later, so bounces go unnoticed. */
function checkBounces(setup: MailSetup): DoctorFinding {
  const report = createReporter("bounces", "bounces are read (Gmail, Microsoft: remove addresses that do not exist)");
  const { bounceAddress, from } = setup;
  const server = usable(setup.server);
  if (server === null) return report("skipped", "no mail server");
  if (bounceAddress === null)
    return isLoopbackHost(server.host)
      ? report("ok", "the server is this machine; bounces go to the sender address")
      : report("warning", `${server.host} may accept all mail and refuse it later; no bounce address is set`);
  if (from !== null && !areAligned(senderDomain(bounceAddress), senderDomain(from)))
    return report("warning", `${bounceAddress} is not of the sender's domain, so SPF does not count for DMARC`);
  if (!bounceAddress.includes("{token}"))
    return report("warning", `${bounceAddress} has no {token}: some bounces cannot be matched to a person`);
  return report("ok", bounceAddress);
}

function checkKey({ dkim }: MailSetup): DoctorFinding {
  const report = createReporter("dkim-key", "a DKIM signature (Gmail 550 5.7.30, Microsoft 550 5.7.515)");
  if (dkim === null) return report("warning", "mail is not signed here: the relay must sign it for your domain");
  if (typeof dkim === "string") return report("problem", dkim);
  try {
    checkDkimKey(dkim);
  } catch (error) {
    if (!(error instanceof DkimKeyError)) throw error;
    return report("problem", error.message);
  }
  return report("ok", `RSA, ${dkim.privateKey.asymmetricKeyDetails?.modulusLength} bits; signs and verifies`);
}

function checkKeyDomain({ dkim, from }: MailSetup): DoctorFinding {
  const report = createReporter("dkim-domain", "DKIM aligned with From (Gmail 421 5.7.32, Microsoft 550 5.7.515)");
  const key = usable(dkim);
  if (key === null || from === null) return report("skipped", key === null ? "no DKIM key" : "no sender address");
  const domain = senderDomain(from);
  if (key.domain === domain) return report("ok", `d=${key.domain}`);
  return areAligned(key.domain, domain)
    ? report("warning", `d=${key.domain} and From ${domain} differ; strict DMARC (adkim=s) fails`)
    : report("problem", `d=${key.domain} is not the domain of From, ${domain}`);
}

async function checkSignedHeaders({ dkim, from, publicUrl }: MailSetup): Promise<DoctorFinding> {
  const report = createReporter("dkim-headers", "both List-Unsubscribe headers signed (RFC 8058, 4)");
  const key = usable(dkim);
  if (key === null || from === null) return report("skipped", key === null ? "no DKIM key" : "no sender address");
  if (publicUrl?.startsWith("https:") !== true) return report("skipped", "no https public URL, so no such headers");
  const signed = await signSample(key, from, publicUrl);
  const names = (/\bh=([^;]*)/.exec(signed)?.[1] ?? "").replaceAll(/\s/g, "").split(":");
  const missing = ONE_CLICK.filter((name) => !names.includes(name));
  return missing.length > 0
    ? report("problem", `not signed: ${missing.join(", ")}`)
    : report("ok", `h=${names.length} headers`);
}

async function signSample(key: DkimKey, from: string, appUrl: string): Promise<string> {
  const sample = sampleSurvey({ now: 0 });
  const sender = { ...NO_SENDER, from };
  const frozen = freezeMail(sample, { sender }, { token: () => "sample" }, 0);
  return signMail(await formatSurveyMail(sample, frozen, { appUrl, sender }), key);
}
