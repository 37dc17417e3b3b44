/**
 * Views for other programs, described in `docs/data.md`, without tokens, secrets or hashes of addresses. A view can
 * gain columns, but if a column's meaning changes, it gets a new name. Migrations drop the views before they change a
 * column that a view uses.
 */
import type { SchemaDialect } from "./baseline.ts";

export function createViews({ engine }: SchemaDialect): readonly string[] {
  const isSqlite = engine === "sqlite";
  const time = (name: string, column: string): string => {
    const text = isSqlite
      ? `strftime('%Y-%m-%dT%H:%M:%SZ', ${column}, 'unixepoch')`
      : `to_char(to_timestamp(${column}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
    return `${text} AS ${name}_at, ${column} AS ${name}_unix`;
  };
  const field = (json: string, ...path: readonly string[]): string =>
    isSqlite ? `json_extract(${json}, '$.${path.join(".")}')` : `${json} #>> '{${path.join(",")}}'`;
  const answers = isSqlite
    ? "JOIN json_each(r.additional_answers) a LEFT JOIN json_each(a.value, '$.value.select_many') c ON true"
    : `CROSS JOIN json_array_elements(r.additional_answers::json) AS a (value)
       LEFT JOIN json_array_elements(CASE json_typeof(a.value #> '{value,select_many}')
         WHEN 'array' THEN a.value #> '{value,select_many}' END) AS c (value) ON true`;
  const value = ["free_response", "scale", "select_one,text"].map((kind) =>
    field("a.value", "value", ...kind.split(",")),
  );
  return [
    `CREATE VIEW v1_people AS SELECT p.name AS project, w.id, w.email, w.name, w.phone_number,
       coalesce(w.properties, '{}') AS properties, ${time("created", "w.created_at")},
       ${time("last_sent", "w.last_sent_at")}, ${time("last_responded", "w.last_responded_at")},
       ${time("next_survey_scheduled", "w.next_survey_at")}, ${time("bounced", "w.bounced_at")},
       ${time("unsubscribed", "w.unsubscribed_at")}
     FROM people w JOIN projects p ON p.id = w.project_id WHERE w.removed = 0`,
    `CREATE VIEW v1_responses AS SELECT p.name AS project, r.id, r.person_id, w.email AS person_email,
       w.name AS person_name, w.phone_number AS person_phone_number, r.request_id AS survey_id, r.survey_type, r.score,
       r.comment, r.person_properties, r.tags, ${time("created", "r.created_at")}, ${time("updated", "r.updated_at")}
     FROM responses r JOIN projects p ON p.id = r.project_id
     JOIN people w ON w.project_id = r.project_id AND w.id = r.person_id`,
    `CREATE VIEW v1_surveys AS SELECT p.name AS project, m.id, m.person_id, m.channel, m.autopilot, m.state,
       ${time("created", "m.created_at")}, ${time("scheduled", "m.scheduled_at")}, ${time("sent", "m.sent_at")},
       ${time("bounced", "b.at")}, ${time("answered", "m.answered_at")}
     FROM messages m JOIN projects p ON p.id = m.project_id
     LEFT JOIN (SELECT project_id, request_id, max(at) AS at FROM delivery_attempts WHERE outcome = 'bounced'
       GROUP BY project_id, request_id) b ON b.project_id = m.project_id AND b.request_id = m.id
     WHERE m.channel IN ('email', 'sms')`,
    `CREATE VIEW v1_answers AS SELECT p.name AS project, r.id AS response_id, r.person_id,
       ${field("a.value", "question", "id")} AS question_id, ${field("a.value", "question", "type")} AS question_type,
       ${field("a.value", "question", "text")} AS question,
       coalesce(${field("a.value", "value", "select_one", "id")}, ${field("c.value", "id")}) AS choice_id,
       CAST(coalesce(${value.join(", ")}, ${field("c.value", "text")}) AS TEXT) AS value,
       ${time("created", "r.created_at")}
     FROM responses r JOIN projects p ON p.id = r.project_id ${answers}`,
  ];
}
