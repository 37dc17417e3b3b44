/** The sender of surveys: a project's settings take precedence over the process's. */
import { domainToASCII } from "node:url";
import type { Project } from "../../domain/inputs.ts";
import type { Store } from "../../domain/ports.ts";
import { type Presentation, readPresentation } from "../../domain/projects/presentation.ts";
import type { ProjectSettings } from "../../domain/projects/settings.ts";

export interface SenderSettings {
  /** An address whose domain is ours to sign for. */
  readonly from: string | null;
  readonly replyTo: string | null;
  readonly senderName: string | null;
  /** Lines below each mail, a postal address for one. */
  readonly footer: string | null;
  /** The envelope sender, which gets bounces; `{token}` stands for the message's own token. */
  readonly bounceAddress: string | null;
}

/** The settings of one mail, where the address is known. */
export interface MailSender extends SenderSettings {
  readonly from: string;
}

export interface MailContext {
  /** The address of this service's pages, without a slash at the end. */
  readonly appUrl: string;
  readonly sender: MailSender;
  /** Absent if the project has set nothing. */
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

/** Without any address it is `surveys@` and the host of the pages. */
export function chooseSender(
  project: Pick<ProjectSettings, "from" | "replyTo" | "senderName" | "footer">,
  process: SenderSettings,
  appUrl: string,
): MailSender {
  return {
    from: project.from ?? process.from ?? `surveys@${hostOf(appUrl)}`,
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

/** A domain name that mail can come from; a bare address is none. */
function hostOf(appUrl: string): string {
  const { hostname } = new URL(appUrl);
  return /^[\d.]+$|^\[/.test(hostname) ? "localhost" : hostname;
}
