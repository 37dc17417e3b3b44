import { type HttpResponse, UNCHANGED } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import {
  type Channel,
  HAVE_ANSWERS,
  LEFT_IN_OUTBOX,
  PROJECT_NAME_HEADER,
  type Route,
  type RouteName,
  SERVES_STATUSES,
} from "../../contract/routes.ts";
import type { Membership, Person, Platform, SurveyResponse, SurveyStatuses } from "../../contract/resources.ts";
import { formatSurveyStatus, SURVEY_STATUS_HEADER, type SurveyStatus } from "../../contract/text/survey-status.ts";
import { addMember, listMembersJson, moveMember, removeMember } from "../domain/surveys/autopilot/autopilot.ts";
import { getAutopilotWithJoining } from "../domain/surveys/autopilot/autopilot-settings.ts";
import { NotFoundError } from "../domain/errors.ts";
import type { MembersQuery, PersonReference, Project } from "../domain/inputs.ts";
import { fullName, readPresentation } from "../domain/projects/presentation.ts";
import { getMetrics } from "../domain/answers/metrics.ts";
import { cancelSurveys, deletePerson, listedPersonJson, listPeopleJson, sendPerson } from "../domain/people/people.ts";
import { writeAsCaller } from "../domain/operation-log/operation-log.ts";
import type { Actor, Store, Transaction } from "../domain/ports.ts";
import {
  addResponse,
  deleteResponse,
  getResponse,
  type Links,
  listResponsesJson,
  requirePerson,
  responseShape,
  updateResponse,
} from "../domain/answers/responses.ts";
import { rescheduleSurvey } from "../domain/surveys/reschedule.ts";
import { signResponseLink } from "../domain/signed-links.ts";
import { listStoredProperties, listSurveyStatuses } from "../domain/surveys/survey-statuses.ts";
import { getPerson } from "../domain/people/person-details.ts";
import { undoWrites } from "../domain/people/undo-writes.ts";
import { resubscribe } from "../domain/people/resubscribe.ts";
import { unsubscribe } from "../domain/people/suppressions.ts";
import {
  parsePendingPath,
  parsePersonPath,
  readEventsQuery,
  readExpansions,
  readMemberInput,
  readMemberReference,
  readMembersQuery,
  readMetricsQuery,
  readPeopleQuery,
  readResponseChange,
  readResponseInput,
  readResponsesQuery,
  readReschedule,
  readResubscription,
  readSendInput,
  readWrites,
  wantsBefore,
  readStatusQuery,
  withPersonId,
} from "./inputs.ts";
import { nextLink, withCursorFilters } from "./parameters.ts";
import { Reader } from "./reader.ts";
import { changeReply, jsonReply, listReply, okReply, rowsReply } from "./replies.ts";

interface Call {
  readonly store: Store;
  readonly project: Project;
  readonly actor: Actor;
  readonly route: Route;
  readonly placeholders: Readonly<Record<string, string>>;
  readonly unstripped: string | null;
  readonly parameters: JsonObject;
  /** The requested URL as the client sees it, without the query. */
  readonly address: string;
  readonly links: Links;
  /** `dueAt` is a survey's due time in Unix seconds; the default is now. */
  readonly wake: (dueAt?: number) => void;
  readonly outboxChannels: readonly Channel[];
}

export type Handler = (call: Call) => Promise<HttpResponse>;

type Headers = Readonly<Record<string, string>>;

function nextHeader(call: Call, parameters: JsonObject, perPage: number, next: string | null): Headers {
  return next === null ? {} : { link: nextLink(call.address, call.route, parameters, perPage, next) };
}

function withHeaders(reply: HttpResponse, headers: Headers): HttpResponse {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function statusHeader(status: SurveyStatus | null): Headers {
  return status === null ? {} : { [SURVEY_STATUS_HEADER]: formatSurveyStatus(status) };
}

const toPlatform = (call: Call): Platform => (call.placeholders.platform === "sms" ? "sms" : "email");

export const HANDLERS: Readonly<Record<RouteName, Handler>> = {
  listPeople: async (call) => {
    const parameters = withCursorFilters(call.parameters, call.route);
    const query = readPeopleQuery(new Reader(parameters));
    const { rows, next } = await call.store.read((tx) => listPeopleJson(tx, call.project, query));
    const reply = query.withProperties
      ? listReply(
          rows,
          (row) => (JSON.parse(row) as Person).id,
          (id) => call.store.read((tx) => listedPersonJson(tx, call.project, id)),
        )
      : rowsReply(rows);
    return withHeaders(reply, { ...nextHeader(call, parameters, query.perPage, next), ...SERVES_STATUSES });
  },
  sendPerson: async (call) => {
    const input = readSendInput(new Reader(call.parameters));
    const { person, created, status, write } = await save(call, (tx) => sendPerson(tx, call.project, input));
    const at = person.survey_scheduled_at;
    const isFile = at !== null && call.outboxChannels.includes(input.channel);
    if (at !== null) call.wake(at);
    const answer = wantsBefore(call.parameters) ? { ...person, ...write?.() } : person;
    return jsonReply(created ? 201 : 200, answer, { ...statusHeader(status), ...(isFile ? LEFT_IN_OUTBOX : {}) });
  },
  listResponses: async (call) => {
    const query = readResponsesQuery(new Reader(call.parameters));
    const { store, project, links } = call;
    const { rows, haveAnswers } = await store.read(async (tx) => ({
      rows: await listResponsesJson(tx, project, query, links),
      haveAnswers: await tx.responses.haveAnswers(project.id),
    }));
    const reply = listReply(
      rows,
      (row) => (JSON.parse(row) as SurveyResponse).id,
      (id) => store.read((tx) => tx.responses.json(project.id, Number(id), responseShape(query.expand, links))),
    );
    return haveAnswers ? withHeaders(reply, HAVE_ANSWERS) : reply;
  },
  addResponse: async (call) => {
    const reader = new Reader(call.parameters);
    const input = readResponseInput(reader);
    await reader.checkAlso("person", () => call.store.read((tx) => requirePerson(tx, call.project, input.personId)));
    reader.finish();
    return jsonReply(201, await save(call, (tx) => addResponse(tx, call.project, input, call.links)));
  },
  listBounces: (call) => listEvents(call, "bounced_at"),
  listUnsubscribes: (call) => listEvents(call, "unsubscribed_at"),
  getMetrics: async (call) => {
    const query = readMetricsQuery(new Reader(call.parameters));
    return call.store.read(async (tx) => {
      const metrics = await getMetrics(tx, call.project, query);
      // Reports request the `email` group; other requests skip this read, which also loads the project's logo.
      const name = query.groups.has("email") ? fullName(await readPresentation(tx, call.project), call.project) : null;
      return jsonReply(200, metrics, name === null ? {} : { [PROJECT_NAME_HEADER]: encodeURIComponent(name) });
    });
  },
  listMembers: async (call) => {
    const parameters = withCursorFilters(call.parameters, call.route);
    const query = readMembersQuery(new Reader(parameters), toPlatform(call));
    const { rows, next } = await call.store.read((tx) => listMembersJson(tx, call.project, query));
    const reply = listReply(
      rows,
      (row) => (JSON.parse(row) as Membership).person.id,
      (personId) => readMember(call, { ...query, personId, after: null }),
    );
    return withHeaders(reply, nextHeader(call, parameters, query.perPage, next));
  },
  addMember: async (call) => {
    const input = readMemberInput(new Reader(call.parameters), toPlatform(call));
    const { member, created, status, write } = await save(call, (tx) => addMember(tx, call.project, input));
    call.wake();
    const answer = wantsBefore(call.parameters) ? { ...member, ...write() } : member;
    return jsonReply(created ? 201 : 200, answer, statusHeader(status));
  },
  removeMember: async (call) => {
    const platform = toPlatform(call);
    const reference = readMemberReference(new Reader(call.parameters), platform);
    const removed = await save(call, (tx) => removeMember(tx, call.project, { platform, reference }));
    call.wake();
    return jsonReply(202, removed);
  },
  moveMember: async (call) => {
    const platform = toPlatform(call);
    const reference = readMemberReference(new Reader(call.parameters), platform);
    const { member, isChanged } = await save(call, (tx) => moveMember(tx, call.project, { platform, reference }));
    call.wake();
    return jsonReply(200, member, isChanged ? {} : UNCHANGED);
  },
  getAutopilot: async (call) => {
    const reader = new Reader(call.parameters);
    const joining = reader.integer("joining", { min: 1 });
    reader.finish();
    const { store, project } = call;
    return jsonReply(
      200,
      await store.read(async (tx) =>
        joining === null
          ? await tx.autopilot.configuration(project.id, toPlatform(call))
          : await getAutopilotWithJoining(tx, project, toPlatform(call), joining),
      ),
    );
  },
  getPerson: async (call) =>
    jsonReply(
      200,
      await firstNamed(call, (reference) => call.store.read((tx) => getPerson(tx, call.project, reference))),
    ),
  deletePerson: async (call) => {
    const isDone = await firstNamed(call, (reference) => save(call, (tx) => deletePerson(tx, call.project, reference)));
    if (!isDone) await call.store.settle();
    call.wake();
    return okReply(202);
  },
  cancelSurveys: async (call) => {
    const reference = parsePendingPath(call.placeholders.email ?? "");
    const isChanged = await save(call, (tx) => cancelSurveys(tx, call.project, reference));
    call.wake();
    return changeReply(isChanged);
  },
  rescheduleSurvey: async (call) => {
    const reference = parsePendingPath(call.placeholders.email ?? "");
    const input = readReschedule(new Reader(call.parameters));
    const survey = await save(call, (tx) => rescheduleSurvey(tx, call.project, reference, input));
    call.wake(survey.scheduled_at);
    return jsonReply(200, survey);
  },
  undoWrites: async (call) => {
    const { person = "" } = call.placeholders;
    const writes = readWrites(new Reader(call.parameters));
    const { undone, isDone } = await save(call, (tx) => undoWrites(tx, call.project, person, writes));
    if (!isDone) await call.store.settle();
    call.wake();
    return jsonReply(200, undone);
  },
  unsubscribe: async (call) => {
    const reader = new Reader(call.parameters);
    const email = reader.required("person_email", reader.email("person_email"), "");
    reader.finish();
    const { created } = await save(call, (tx) => unsubscribe(tx, call.project, email));
    return okReply(created ? 201 : 200);
  },
  resubscribe: async (call) => {
    const { email, note } = readResubscription(new Reader(call.parameters));
    const isChanged = await save(call, (tx) => resubscribe(tx, call.project, email, note));
    call.wake();
    return changeReply(isChanged);
  },
  getResponse: async (call) => {
    const { id = "" } = call.placeholders;
    const expand = readExpansions(new Reader(call.parameters));
    return jsonReply(200, await call.store.read((tx) => getResponse(tx, call.project, id, expand, call.links)));
  },
  signResponse: async (call) => {
    const { id = "" } = call.placeholders;
    const path = await save(call, (tx) => signResponseLink(tx, call.project, id));
    if (path === null) throw new NotFoundError(`no response ${id}`);
    return jsonReply(200, { url: call.links.permalink(path.slice("/r/".length)) });
  },
  updateResponse: async (call) => jsonReply(200, await changeNamedResponse(call, call.placeholders.id ?? "")),
  listSurveyStatuses: async (call) => {
    const { people, withProperties } = readStatusQuery(new Reader(call.parameters));
    const answer = await call.store.read(async (tx): Promise<SurveyStatuses> => {
      const found = await listSurveyStatuses(tx, call.project, people);
      const stored = withProperties ? await listStoredProperties(tx, call.project, people) : [];
      return {
        people: found.map((one, at) => ({
          survey_status: one?.status ?? null,
          survey_status_until: one?.until ?? null,
          ...(stored[at] && { properties: stored[at] }),
        })),
      };
    });
    return jsonReply(200, answer);
  },
  deleteResponse: async (call) => {
    await save(call, (tx) => deleteResponse(tx, call.project, call.placeholders.id ?? ""));
    return okReply(202);
  },
  updateResponseByBody: async (call) => {
    const reader = new Reader(call.parameters);
    const id = reader.required("id", reader.text("id"), "");
    reader.finish();
    return jsonReply(200, await changeNamedResponse(call, id));
  },
};

async function listEvents({ store, project, parameters }: Call, at: "bounced_at" | "unsubscribed_at") {
  const query = readEventsQuery(new Reader(parameters));
  return rowsReply(await store.read((tx) => tx.people.listEvents(project.id, at, query)));
}

async function readMember({ store, project }: Call, query: MembersQuery): Promise<string | null> {
  const { rows } = await store.read((tx) => listMembersJson(tx, project, query));
  return rows[0] ?? null;
}

/** An identifier can itself end in `.json` (`email:x@y.json`), so the full text is tried first. */
async function firstNamed<Result>(
  { placeholders, unstripped }: Call,
  work: (reference: PersonReference) => Promise<Result>,
): Promise<Result> {
  if (unstripped !== null && unstripped.includes("@")) {
    try {
      return await work(parsePersonPath(unstripped));
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  return work(parsePersonPath(placeholders.person ?? ""));
}

/** Some client libraries send the id in the body. */
async function changeNamedResponse(call: Call, id: string): Promise<SurveyResponse> {
  const { project, parameters, links } = call;
  const reader = new Reader(withPersonId(parameters));
  const change = readResponseChange(reader);
  const expand = readExpansions(reader);
  const { personId } = change;
  if (personId !== undefined)
    await reader.checkAlso("person", () => call.store.read((tx) => requirePerson(tx, project, personId)));
  reader.finish();
  return save(call, (tx) => updateResponse(tx, project, id, change, expand, links));
}

function save<Result>({ store, project, actor }: Call, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return writeAsCaller(store, project, actor, work);
}
