import type { PersonDetails, PersonSurvey } from "../../../contract/resources.ts";
import type { SurveyStatusName } from "../../../contract/text/survey-status.ts";
import type { PersonReference, Project } from "../inputs.ts";
import type { DeliveryRow, Transaction } from "../ports.ts";
import { findPause, refuseSurvey } from "../surveys/surveys.ts";
import { toPerson } from "./people.ts";
import { requireReferenced } from "./person-identity.ts";
import { storedProperties } from "./stored-properties.ts";

const SURVEYS_SHOWN = 10;

/** A person with one of these statuses can still have a pending survey, which a pause delays. */
const LETS_WAIT: ReadonlySet<SurveyStatusName> = new Set(["pending", "throttled"]);

export function toPersonSurvey(survey: DeliveryRow): PersonSurvey {
  return {
    id: String(survey.requestId),
    channel: survey.channel,
    autopilot: survey.autopilot,
    state: survey.state,
    reason: survey.reason,
    created_at: survey.createdAt,
    scheduled_at: survey.dueAt,
    sent_at: survey.sentAt,
    answered: survey.pageFacts.answeredBy !== null,
  };
}

export async function getPerson(tx: Transaction, project: Project, reference: PersonReference): Promise<PersonDetails> {
  const person = await requireReferenced(tx, project, reference);
  const { id, phoneNumber } = person;
  const [stop] = phoneNumber === null ? [] : await tx.suppressions.list(project.id, "sms", phoneNumber);
  const surveys = await tx.deliveries.ofPerson(project.id, id, SURVEYS_SHOWN);
  const resubscriptions = await tx.people.resubscriptions(project.id, id);
  const channel = person.email === null ? "sms" : "email";
  const refused = await refuseSurvey(tx, project, person, { channel, isNew: false, delaySeconds: 0 });
  const pause = await findPause(tx, project);
  const isWaiting = refused === null || (person.nextSurveyAt !== null && LETS_WAIT.has(refused.status));
  const status = pause !== null && isWaiting ? { ...pause, until: person.nextSurveyAt } : refused;
  return {
    ...toPerson(person),
    survey_status: status?.status ?? null,
    survey_status_since: status?.since ?? null,
    survey_status_until: status?.until ?? null,
    properties: storedProperties(person),
    unsubscribed_at: person.unsubscribedAt,
    bounced_at: person.bouncedAt,
    texts_stopped_at: stop?.at ?? null,
    surveys: surveys.map(toPersonSurvey),
    resubscriptions: resubscriptions.map(({ at, note }) => ({ created_at: at, note })),
  };
}
