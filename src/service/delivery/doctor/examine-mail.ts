import type { Clock } from "../../../runtime/clock.ts";
import type { NameResolver } from "../../../runtime/name-resolver.ts";
import { checkNames } from "./check-names.ts";
import { checkConnection } from "./check-server.ts";
import { checkSettings } from "./check-settings.ts";
import type { DoctorFinding, MailSetup } from "./finding.ts";

export interface Outside {
  readonly names: NameResolver;
  readonly signal: AbortSignal;
}

export interface ProjectSender {
  readonly projects: readonly string[];
  readonly from: string;
}

const ABOUT_SENDER: ReadonlySet<string> = new Set(["sender", "dkim-domain", "sender-mx", "spf", "dmarc"]);

export async function examineSenders(
  setup: MailSetup,
  senders: readonly ProjectSender[],
  names: NameResolver | null,
): Promise<DoctorFinding[]> {
  const found = await Promise.all(
    senders.map(async ({ projects, from }) => {
      const own = { ...setup, from };
      const all = [...(await checkSettings(own)), ...(names === null ? [] : await checkNames(names, own))];
      const prefix = `${projects.length > 1 ? "projects" : "project"} ${projects.join(", ")}: `;
      return all
        .filter(({ check }) => ABOUT_SENDER.has(check))
        .map((finding) => ({ ...finding, detail: prefix + finding.detail }));
    }),
  );
  return found.flat();
}

/** One finding per check, in a fixed order. Without `outside`, makes no network requests. Sends no mail. */
export async function examineMail(setup: MailSetup, clock: Clock, outside: Outside | null): Promise<DoctorFinding[]> {
  const settings = await checkSettings(setup);
  if (outside === null) return settings;
  const { names, signal } = outside;
  const [found, heard] = await Promise.all([checkNames(names, setup), checkConnection(setup, { clock, signal })]);
  return [...settings, ...found, ...heard];
}
