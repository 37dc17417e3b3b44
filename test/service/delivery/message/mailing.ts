import type { Random } from "../../../../src/runtime/random.ts";
import { chooseSender, NO_SENDER, type MailSender } from "../../../../src/service/delivery/message/sender.ts";
import { formatSurveyMail, freezeMail } from "../../../../src/service/delivery/message/survey-mail.ts";
import type { DueSurvey } from "../../../../src/service/domain/ports.ts";
import { NO_PRESENTATION, type Presentation } from "../../../../src/service/domain/projects/presentation.ts";
import { dueSurvey } from "../due.ts";
import { type Mail, readMail } from "../read-mail.ts";

export const APP_URL = "https://survey.example.com";
export const NOW = 1_750_000_000;
export const TOKEN = "tokenOf22characters-_x";
export const UNSUBSCRIBE_TOKEN = "leavesWith22characters";
export const UNSAID = {
  senderName: null,
  from: null,
  replyTo: null,
  footer: null,
  timeZone: null,
  softBounces: null,
  dailyLimit: null,
};

export function countingTokens(): Pick<Random, "token"> {
  const state = { count: 0 };
  return {
    token: (bytes) => {
      state.count += 1;
      return `random${state.count}of${bytes}`;
    },
  };
}

export interface Given extends Partial<DueSurvey> {
  readonly sender?: Partial<MailSender>;
  readonly appUrl?: string;
  readonly presentation?: Presentation;
}

export function rawMail(options: Given = {}): Promise<string> {
  const { sender: settings = {}, appUrl = APP_URL, presentation = NO_PRESENTATION, ...given } = options;
  const due = dueSurvey({ unsubscribeToken: UNSUBSCRIBE_TOKEN, ...given });
  const sender = { ...chooseSender(UNSAID, NO_SENDER, appUrl), ...settings };
  return formatSurveyMail(due, freezeMail(due, { sender, presentation }, countingTokens(), NOW), {
    appUrl,
    sender,
    presentation,
  });
}

export async function mail(given: Given = {}): Promise<Mail> {
  return readMail(await rawMail(given));
}

export async function html(given: Given = {}): Promise<string> {
  return (await mail(given)).parts["text/html"] ?? "";
}

export const inLocale = (locale: string): Given => ({ properties: { locale } });
