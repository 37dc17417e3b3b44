import { isIP } from "node:net";
import { isLoopbackHost, type NameResolver } from "../../../runtime/name-resolver.ts";
import { type DkimKey, dkimRecord } from "../mail/dkim.ts";
import { senderDomain } from "../message/sender.ts";
import type { SmtpServer } from "../smtp/smtp-url.ts";
import { areAligned, createReporter, type DoctorFinding, type MailSetup, type Reporter, usable } from "./finding.ts";
import { evaluateSpf, type SpfAnswer } from "./spf.ts";

interface KnownRelay {
  readonly host: RegExp;
  readonly spf: string;
  /** True if the provider uses its own envelope sender, so receivers check the provider's SPF record. */
  readonly hasOwnEnvelope: boolean;
}

const KNOWN_RELAYS: readonly KnownRelay[] = [
  { host: /^email-smtp\..*\.amazonaws\.com$/, spf: "amazonses.com", hasOwnEnvelope: true },
  { host: /(?:^|\.)postmarkapp\.com$/, spf: "spf.mtasv.net", hasOwnEnvelope: true },
  { host: /^smtp(?:-relay)?\.gmail\.com$/, spf: "_spf.google.com", hasOwnEnvelope: false },
  { host: /^smtp\.office365\.com$/, spf: "spf.protection.outlook.com", hasOwnEnvelope: false },
  { host: /\.mail\.protection\.outlook\.com$/, spf: "spf.protection.outlook.com", hasOwnEnvelope: false },
];

export async function checkNames(names: NameResolver, setup: MailSetup): Promise<DoctorFinding[]> {
  return Promise.all([
    checkMailHosts(names, setup),
    checkSpf(names, setup),
    checkDkimRecord(names, setup),
    checkDmarc(names, setup),
  ]);
}

async function checkMailHosts(names: NameResolver, { from }: MailSetup): Promise<DoctorFinding> {
  const report = createReporter(
    "sender-mx",
    "From accepts replies (required by Microsoft; many refuse mail with 5.1.8 otherwise)",
  );
  if (from === null) return report("skipped", "no sender address");
  const domain = senderDomain(from);
  return skippingDnsErrors(report, async () => {
    const hosts = await names.mailHosts(domain);
    if (hosts.length === 1 && hosts[0] === "") return report("problem", `${domain} does not accept mail`);
    if (hosts.length > 0) return report("ok", hosts.slice(0, 3).join(", "));
    const addresses = await names.addresses(domain);
    if (addresses.length === 0) return report("problem", `${domain} has neither MX nor A records`);
    return report("warning", `${domain} has no MX record, only addresses`);
  });
}

async function checkSpf(names: NameResolver, { from, bounceAddress, ...setup }: MailSetup): Promise<DoctorFinding> {
  const report = createReporter("spf", "SPF passes for the envelope sender (Gmail 550 5.7.27, Microsoft 550 5.7.515)");
  const server = usable(setup.server);
  const envelope = bounceAddress ?? from;
  if (envelope === null || server === null)
    return report("skipped", envelope === null ? "no sender address" : "no mail server");
  const domain = senderDomain(envelope);
  return skippingDnsErrors(report, async () => {
    const addresses = await serverAddresses(names, server);
    const answers = await Promise.all(addresses.map((address) => evaluateSpf(names, domain, address)));
    const [answer] = answers;
    if (answer === undefined) return report("skipped", `${server.host} has no address in DNS`);
    return report(...judgeSpf(answer, { answers, domain, server }));
  });
}

interface SpfCase {
  readonly answers: readonly SpfAnswer[];
  readonly domain: string;
  readonly server: SmtpServer;
}

function judgeSpf(answer: SpfAnswer, { answers, domain, server }: SpfCase): [DoctorFinding["result"], string] {
  const relay = KNOWN_RELAYS.find(({ host }) => host.test(server.host));
  if (relay?.hasOwnEnvelope === true && answer.result !== "error")
    return ["ok", `${server.host} sends with an envelope domain of its own`];
  if (answer.result === "none") return ["problem", `${domain} has no SPF record`];
  if (answer.result === "error") return ["problem", `the SPF record of ${domain} is not valid: ${answer.reason}`];
  if (relay !== undefined)
    return answer.domains.includes(relay.spf)
      ? ["ok", `${domain} includes ${relay.spf}`]
      : ["problem", `the SPF record of ${domain} does not include ${relay.spf}, the servers of ${server.host}`];
  if (isLoopbackHost(server.host))
    return ["warning", `${domain}: ${answer.record}; the address that this machine sends from is not known here`];
  if (answers.every(({ result }) => result === "pass")) return ["ok", `${domain} lets ${server.host} send`];
  return ["warning", `${domain} does not list the addresses of ${server.host}; it may send from others`];
}

async function serverAddresses(names: NameResolver, { host }: SmtpServer): Promise<readonly string[]> {
  if (host === "localhost") return ["127.0.0.1"];
  return isIP(host) > 0 ? [host] : names.addresses(host);
}

async function checkDkimRecord(names: NameResolver, { dkim }: MailSetup): Promise<DoctorFinding> {
  const report = createReporter("dkim-record", "the public key in DNS (Gmail 550 5.7.30, Microsoft 550 5.7.515)");
  const key = usable(dkim);
  if (key === null) return report("skipped", "no DKIM key; look at the relay's settings");
  return skippingDnsErrors(report, async () => {
    const name = `${key.selector}._domainkey.${key.domain}`;
    const records = (await names.texts(name)).filter((text) => /(?:^|;)\s*p\s*=/.test(text));
    if (records.length === 0) return report("problem", `no TXT record at ${name}; it must be "${dkimRecord(key)}"`);
    if (records.length > 1) return report("problem", `${name} has ${records.length} keys; only one is allowed`);
    return report(...judgeKey(records[0] ?? "", key, name));
  });
}

function judgeKey(record: string, key: DkimKey, name: string): [DoctorFinding["result"], string] {
  const published = parseTags(record);
  if (published.get("p") === "") return ["problem", `the key at ${name} is revoked (p= is empty)`];
  if (published.get("p") !== parseTags(dkimRecord(key)).get("p"))
    return ["problem", `the key at ${name} is another one; it must be "${dkimRecord(key)}"`];
  const flags = published.get("t")?.split(":") ?? [];
  if (flags.includes("y")) return ["warning", `${name} is in test mode (t=y): failures do not count, nor may passes`];
  return ["ok", name];
}

async function checkDmarc(names: NameResolver, { from, bounceAddress, dkim }: MailSetup): Promise<DoctorFinding> {
  const report = createReporter("dmarc", "a DMARC record with a policy (Gmail 550 5.7.40, Microsoft 550 5.7.515)");
  if (from === null) return report("skipped", "no sender address");
  const domain = senderDomain(from);
  return skippingDnsErrors(report, async () => {
    const record = await findDmarc(names, domain);
    if (record === null) return report("problem", `no DMARC record at _dmarc.${domain}; at least "v=DMARC1; p=none"`);
    const policy = parseTags(record).get("p")?.toLowerCase() ?? "";
    if (!["none", "quarantine", "reject"].includes(policy)) return report("problem", `${record} has no valid policy`);
    const isAligned = dkim !== null || areAligned(senderDomain(bounceAddress ?? from), domain);
    return isAligned
      ? report("ok", record)
      : report("warning", `${record}; it passes only if the relay signs for ${domain}`);
  });
}

async function findDmarc(names: NameResolver, domain: string): Promise<string | null> {
  const labels = domain.split(".");
  for (const at of labels.keys()) {
    if (labels.length - at < 2) return null;
    const records = await names.texts(`_dmarc.${labels.slice(at).join(".")}`);
    const record = records.find((text) => /^v=DMARC1\b/i.test(text));
    if (record !== undefined) return record;
  }
  return null;
}

function parseTags(record: string): ReadonlyMap<string, string> {
  const tags = record.split(";").map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).replaceAll(/\s/g, "")] as const;
  });
  return new Map(tags.filter(([name]) => name !== ""));
}

async function skippingDnsErrors(report: Reporter, work: () => Promise<DoctorFinding>): Promise<DoctorFinding> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return report("skipped", `DNS did not answer (${code})`);
  }
}
