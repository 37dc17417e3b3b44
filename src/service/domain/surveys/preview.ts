import type { Locale } from "../../../contract/locales.ts";
import type { Project } from "../inputs.ts";
import type { DueSurvey, Transaction } from "../ports.ts";
import { carriedProperties, storedProperties } from "../people/stored-properties.ts";
import { readSpecialProperties } from "./special-properties.ts";

const PREVIEW_TOKEN = "preview";

const NORA = { id: 0, email: "nora@example.com", name: "Nora", phoneNumber: null, properties: null };
const ANY_PROJECT: Project = { id: 0, name: "default" };

export interface Sample {
  readonly project?: Project;
  readonly person?: DueSurvey["person"];
  readonly properties?: DueSurvey["properties"];
  readonly now: number;
}

export interface PreviewRequest {
  readonly email: string | null;
  readonly locale: Locale | null;
}

/** Previews the pending survey, or a new one. Null for an unknown address. */
export async function previewSurvey(
  tx: Transaction,
  project: Project,
  { email, locale }: PreviewRequest,
): Promise<DueSurvey | null> {
  const person = email === null ? NORA : await tx.people.byEmail(project.id, email);
  if (person === null) return null;
  const waiting = email === null ? null : await tx.requests.waitingProperties(project.id, person.id, "email");
  const properties = waiting ?? carriedProperties(storedProperties(person));
  return sampleSurvey({ project, person, now: tx.now, properties: { ...properties, ...(locale && { locale }) } });
}

/** The survey's links lead to preview pages and unsubscribe no one. */
export function sampleSurvey({ project = ANY_PROJECT, person = NORA, properties = {}, now }: Sample): DueSurvey {
  const token = `${PREVIEW_TOKEN}-${readSpecialProperties(properties).locale}`;
  return {
    project,
    requestId: 0,
    channel: "email",
    autopilot: false,
    token,
    unsubscribeToken: token,
    properties,
    scheduledAt: now,
    attempts: 0,
    firstAttemptAt: null,
    frozen: null,
    claimer: "",
    claims: 0,
    person: { id: person.id, email: person.email, name: person.name, phoneNumber: person.phoneNumber },
  };
}
