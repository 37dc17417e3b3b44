/** Messages as files: `.eml` for e-mail, `.json` for SMS, one for each survey request, whole or not there. */
import { mkdir, open, rename, stat } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../../runtime/file-replacement.ts";
import type { DeliveryOutcome } from "../domain/delivery.ts";
import type { DueSurvey } from "../domain/ports.ts";
import { formatSurveyMail, type MailContext } from "./survey-mail.ts";
import { formatSurveySms } from "./survey-sms.ts";

export interface Outbox {
  /** Resolves once all these messages are durably on disk; one outcome for each, in order. */
  deliver(surveys: readonly DueSurvey[], context: MailContext): Promise<readonly DeliveryOutcome[]>;
}

/** Files written at once; more would only wait for the same disk. */
const CONCURRENCY = 8;
const FIRST_RETRY_SECONDS = 15;
const LAST_RETRY_SECONDS = 3600;

/**
 * The name of a survey's file follows from its request alone. A survey whose sending was cut short before it
 * was recorded is found again, meets its own file, and so comes out exactly once.
 */
export function createOutbox(folder: string, onError: (error: unknown) => void): Outbox {
  const deliverOne = async (due: DueSurvey, context: MailContext): Promise<DeliveryOutcome> => {
    try {
      await writeOnce(path.join(folder, fileName(due)), format(due, context));
      return { kind: "sent" };
    } catch (error) {
      onError(error);
      return { kind: "retry", delaySeconds: Math.min(FIRST_RETRY_SECONDS * 2 ** due.attempts, LAST_RETRY_SECONDS) };
    }
  };
  return {
    deliver: async (surveys, context) => {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
      } catch (error) {
        onError(error);
      }
      const outcomes: DeliveryOutcome[] = [];
      for (let start = 0; start < surveys.length; start += CONCURRENCY) {
        const some = surveys.slice(start, start + CONCURRENCY);
        outcomes.push(...(await Promise.all(some.map((due) => deliverOne(due, context)))));
      }
      await syncFolder(folder).catch(onError);
      return outcomes;
    },
  };
}

function fileName({ project, requestId, channel }: DueSurvey): string {
  return `${project.id}-${requestId}.${channel === "sms" ? "json" : "eml"}`;
}

function format(due: DueSurvey, context: MailContext): string {
  return due.channel === "sms" ? formatSurveySms(due, context.appUrl) : formatSurveyMail(due, context);
}

async function writeOnce(file: string, text: string): Promise<void> {
  if (await exists(file)) return;
  // The temporary name is fixed, so that what a crash leaves is overwritten; dot files are nobody's mail.
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.tmp`);
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch {
    return false;
  }
}
