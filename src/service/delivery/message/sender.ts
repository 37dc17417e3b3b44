import { domainToASCII } from "node:url";
import type { Project } from "../../domain/inputs.ts";
import type { Store } from "../../domain/ports.ts";
import { type Presentation, readPresentation } from "../../domain/projects/presentation.ts";
import type { ProjectSettings } from "../../domain/projects/settings.ts";

export interface SenderSettings {
  readonly from: string | null;
  readonly replyTo: string | null;
  readonly senderName: string | null;
  readonly footer: string | null;
  /** The envelope sender, which gets bounces; `{token}` is replaced with the message's token. */
  readonly bounceAddress: string | null;
}

export interface MailSender extends SenderSettings {
  readonly from: string;
}

export interface MailContext {
  /** The base URL of links, without a trailing slash. */
  readonly appUrl: string;
  readonly sender: MailSender;
  readonly presentation?: Presentation;
}

export const NO_SENDER: SenderSettings = {
  from: null,
  replyTo: null,
  senderName: null,
  footer: null,
  bounceAddress: null,
};

export async function readMailContext(
  store: Pick<Store, "read">,
  project: Project,
  defaults: SenderSettings,
  appUrl: string,
): Promise<MailContext> {
  const presentation = await store.read((tx) => readPresentation(tx, project));
  const { settings, brand } = presentation;
  const own = { ...settings, senderName: settings.senderName ?? brand.name };
  return { appUrl, sender: chooseSender(own, defaults, appUrl), presentation };
}

/** If no address is configured, the sender is `surveys@` and the public host. */
export function chooseSender(
  project: Pick<ProjectSettings, "from" | "replyTo" | "senderName" | "footer">,
  process: SenderSettings,
  appUrl: string,
): MailSender {
  return {
    from: project.from ?? process.from ?? `surveys@${mailHost(appUrl)}`,
    replyTo: project.replyTo ?? process.replyTo,
    senderName: project.senderName ?? process.senderName,
    footer: project.footer ?? process.footer,
    bounceAddress: process.bounceAddress,
  };
}

export function senderDomain(address: string): string {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  return domainToASCII(domain) || domain;
}

/** Returns `localhost` if the host is an IP address rather than a domain name that can send mail. */
function mailHost(appUrl: string): string {
  const { hostname } = new URL(appUrl);
  return /^[\d.]+$|^\[/.test(hostname) ? "localhost" : hostname;
}
