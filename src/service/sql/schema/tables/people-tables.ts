import { OF_PERSON, OF_PROJECT, type Table } from "../table.ts";

const PEOPLE: Table = {
  name: "people",
  /**
   * `unsubscribed_by` is the survey whose link was used; `removed` people are being deleted. `writes` counts all writes
   * to a person, including those that change nothing; `value_writes` counts writes that gave a name or properties.
   */
  columns: `project_id int, id int, email text?, email_key text?, name text?, phone_number text?, properties text?,
    created_at int, last_sent_at int?, last_responded_at int?, next_survey_at int?, bounced_at int?,
    unsubscribed_at int?, unsubscribed_by int?, removed int = 0, writes int = 0, value_writes int = 0`,
  key: "project_id, id",
  references: [OF_PROJECT],
  indexes: {
    people_by_email: "UNIQUE (project_id, email_key)",
    people_by_phone: "UNIQUE (project_id, phone_number)",
    people_by_creation: "(project_id, created_at, id)",
    people_by_bounce: "(project_id, bounced_at, id) WHERE bounced_at IS NOT NULL",
    people_by_unsubscribe: "(project_id, unsubscribed_at, id) WHERE unsubscribed_at IS NOT NULL",
  },
};

/** Resubscriptions of people who had unsubscribed or bounced, each with its reason. */
const RESUBSCRIPTIONS: Table = {
  name: "resubscriptions",
  columns: "project_id int, person_id int, at int, note text",
  key: "project_id, person_id, at",
  references: [OF_PERSON],
};

const AUTOPILOT: readonly Table[] = [
  /** `joined` counts everyone who ever joined and is the source of member numbers, which aren't reused. */
  {
    name: "autopilot_configurations",
    columns: `project_id int, platform text, active int, frequency int, created_at int, updated_at int,
      first text, days text, hours text, joined int = 0`,
    key: "project_id, platform",
    references: [OF_PROJECT],
  },
  /** `start` is the event from which the next survey is counted, as JSON; the survey isn't due before `not_before`. */
  {
    name: "memberships",
    columns: `project_id int, platform text, person_id int, created_at int, updated_at int,
      properties text, next_request_id int?, number int, start text, not_before int?`,
    key: "project_id, platform, person_id",
    references: [OF_PERSON],
    indexes: {
      memberships_by_creation: "(project_id, platform, created_at, person_id)",
      memberships_by_person: "(project_id, person_id)",
    },
  },
];

/** Requested surveys that were not scheduled; `reason` is a `SurveyStatusName`. */
const UNSCHEDULED: Table = {
  name: "unscheduled_surveys",
  isClustered: true,
  columns: `project_id int, reason text, at int, id int, person_id int, channel text, since_at int?, until_at int?`,
  key: "project_id, reason, at, id",
  references: [OF_PERSON],
  indexes: {
    unscheduled_surveys_by_person: "(project_id, person_id, at, id)",
    unscheduled_surveys_by_time: "(at)",
  },
};

/** Records of people who left, mostly hashes, so that restores and imports don't bring them back. */
const LEFT: readonly Table[] = [
  /** Suppressions are kept when the person is deleted. */
  {
    name: "suppressions",
    columns: `project_id int, channel text, address_hash text, reason text, created_at int`,
    key: "project_id, channel, address_hash, reason",
    references: [OF_PROJECT],
  },
  /** Deleted people who may still have messages in an outbox. */
  {
    name: "erased_surveys",
    columns: `project_id int, token text, request_id int, channel text`,
    key: "project_id, token",
  },
  {
    name: "erasures",
    isClustered: true,
    columns: `project_id int, hash text, at int`,
    key: "project_id, hash",
    references: [OF_PROJECT],
  },
  /** Hashes of `/u/` tokens, each with the address hash to suppress. */
  {
    name: "erased_links",
    isClustered: true,
    columns: `project_id int, hash text, channel text, address_hash text`,
    key: "project_id, hash",
    references: [OF_PROJECT],
    indexes: {
      erased_links_by_hash: "(hash)",
      erased_links_by_address: "(project_id, address_hash)",
    },
  },
];

export const PEOPLE_TABLES: readonly Table[] = [PEOPLE, RESUBSCRIPTIONS, ...AUTOPILOT, UNSCHEDULED, ...LEFT];
