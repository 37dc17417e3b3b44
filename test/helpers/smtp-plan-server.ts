/**
 * A mail server whose recipients choose their fate. The local part up to `+` is the plan: `ok`, `slow-5s` (late reply
 * to the message), `greylist-60s` (450 until then), or a refusal `CODE[-ENHANCED][-WORDS][xTIMES]` such as `450x2`,
 * `550-5.1.1` or `550-5.7.1-spamhaus`. RCPT TO is refused, or the message if the code is 552 or 554 or the plan starts
 * with `dot-`.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";

export interface Refusal {
  readonly code: number;
  readonly text: string;
}

export interface AcceptedMail {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly at: number;
  readonly connection: number;
}

export interface SmtpPlanServer {
  readonly port: number;
  readonly accepted: readonly AcceptedMail[];
  readonly attempts: ReadonlyMap<string, number>;
  readonly connections: () => number;
  readonly logins: () => number;
  readonly peak: () => number;
  /** Refusals of the whole server. Tests set and delete these. */
  readonly faults: { connect?: Refusal; auth?: Refusal; mailFrom?: Refusal };
  readonly stop: () => Promise<void>;
}

export interface SmtpPlanOptions {
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly tls?: "starttls" | "implicit";
  readonly now?: () => number;
  readonly keepsText?: boolean;
  readonly server?: SMTPServerOptions;
}

const TLS = path.join(import.meta.dirname, "../fixtures/tls");
/** 2048 bits as DKIM requires. Generating one takes over 100 ms. */
export const RSA_PEM = readFileSync(path.join(TLS, "rsa-key.pem"), "utf8");
const WORDS: Readonly<Record<string, string>> = {
  spamhaus: "Service unavailable; client host blocked using zen.spamhaus.org",
  daily: "4.5.3 Daily message limit exceeded",
  limit: "The mailbox has exceeded its daily limit",
  blocked: "Message blocked due to the sender's reputation",
  full: "The mailbox is full",
  disabled: "The account is disabled",
  rate: "The user receives mail too quickly",
};
const BY_CODE: Readonly<Record<string, string>> = {
  "5.1.1": "The address does not exist",
  "5.1.2": "The domain does not exist",
  421: "4.3.2 Closing the connection, try again later",
  450: "4.2.0 Try again later",
  535: "5.7.8 Authentication credentials invalid",
  552: "5.3.4 Message too large",
};
const PLAN = /^(?:dot-)?(\d{3})(?:-(\d\.\d+\.\d+))?(?:-([a-z]+))?(?:x(\d+))?$/;

export async function startPlanServer(options: SmtpPlanOptions = {}): Promise<SmtpPlanServer> {
  const { now = Date.now, credentials, keepsText = true } = options;
  const state = { connections: 0, open: 0, peak: 0, logins: 0 };
  const numbers = new Map<string, number>();
  const accepted: AcceptedMail[] = [];
  const attempts = new Map<string, number>();
  const firstSeen = new Map<string, number>();
  const faults: SmtpPlanServer["faults"] = {};

  const atRecipient = (address: string): Error | null => {
    const plan = planOf(address);
    attempts.set(address, (attempts.get(address) ?? 0) + 1);
    const wait = /^greylist-(\d+)s$/.exec(plan)?.[1];
    const first = firstSeen.get(address) ?? now();
    firstSeen.set(address, first);
    if (wait !== undefined)
      return now() - first < Number(wait) * 1000 ? asError({ code: 450, text: "4.2.0 Greylisted" }) : null;
    return isAboutMessage(plan) ? null : refusalOf(plan, attempts.get(address) ?? 1);
  };

  const finish = (session: SMTPServerSession, text: string): Error | null => {
    const [to = ""] = session.envelope.rcptTo.map(({ address }) => address);
    const refusal = isAboutMessage(planOf(to)) ? refusalOf(planOf(to), attempts.get(to) ?? 1) : null;
    if (refusal !== null) return refusal;
    const from = session.envelope.mailFrom === false ? "" : session.envelope.mailFrom.address;
    accepted.push({ from, to, text: keepsText ? text : "", at: now(), connection: numbers.get(session.id) ?? 0 });
    return null;
  };

  const server = new SMTPServer({
    ...(options.tls === undefined ? {} : tlsFiles()),
    secure: options.tls === "implicit",
    disabledCommands: [
      ...(options.tls === undefined ? ["STARTTLS"] : []),
      ...(credentials === undefined ? ["AUTH"] : []),
    ],
    authOptional: credentials === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onConnect: (session, done) => {
      state.connections += 1;
      state.open += 1;
      state.peak = Math.max(state.peak, state.open);
      numbers.set(session.id, state.connections);
      done(faults.connect === undefined ? null : asError(faults.connect));
    },
    onClose: () => (state.open -= 1),
    onAuth: ({ username, password }, _session, done) => {
      state.logins += 1;
      const isRight = username === credentials?.user && password === credentials?.password;
      const refusal = faults.auth ?? (isRight ? undefined : { code: 535, text: "5.7.8 Wrong user name or password" });
      if (refusal === undefined) done(null, { user: username });
      else done(asError(refusal));
    },
    onMailFrom: (_address, _session, done) => done(faults.mailFrom === undefined ? null : asError(faults.mailFrom)),
    onRcptTo: ({ address }, _session, done) => done(atRecipient(address)),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const answer = (): void => {
          const error = finish(session, Buffer.concat(chunks).toString("utf8"));
          if (error === null) done(null, `2.0.0 Ok: queued as ${accepted.length}`);
          else done(error);
        };
        const wait = /^slow-(\d+)s$/.exec(planOf(session.envelope.rcptTo[0]?.address ?? ""))?.[1];
        if (wait === undefined) answer();
        else setTimeout(answer, Number(wait) * 1000);
      });
    },
    ...options.server,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  return {
    port: (server.server.address() as AddressInfo).port,
    accepted,
    attempts,
    faults,
    connections: () => state.connections,
    logins: () => state.logins,
    peak: () => state.peak,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function planOf(address: string): string {
  return address.slice(0, address.lastIndexOf("@")).split("+")[0] ?? "";
}

function isAboutMessage(plan: string): boolean {
  return /^(?:dot-|552|554)/.test(plan);
}

function refusalOf(plan: string, attempt: number): Error | null {
  const [, code, enhanced, word, times] = PLAN.exec(plan) ?? [];
  if (code === undefined || (times !== undefined && attempt > Number(times))) return null;
  const words = WORDS[word ?? ""] ?? BY_CODE[enhanced ?? code] ?? "Refused";
  return asError({ code: Number(code), text: enhanced === undefined ? words : `${enhanced} ${words}` });
}

function asError({ code, text }: Refusal): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

function tlsFiles(): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(path.join(TLS, "cert.pem")), key: readFileSync(path.join(TLS, "key.pem")) };
}
