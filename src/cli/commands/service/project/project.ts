import { parseName } from "../../../args/values.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { PROJECT_DEFAULT, showRecord } from "../data/data-file.ts";
import { parseNameArg, serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";
import { toShellWord } from "../../../render/safe-text.ts";
import { keyNotes } from "./key.ts";

const ADDED = toResource("projects", { id: "id", name: "text", key: "text" });

export const project = defineGroup({
  name: "project",
  summary: "manage projects, each with its own people, responses, settings and keys",
  commands: [
    serviceCommand({
      operation: "project.add",
      scope: "server",
      summary: "create a project and print its first key once",
      examples: ["surveyctl service project add acme --data survey.db", "surveyctl service project add acme --json"],
      args: { name: { form: "<name>", text: "the project's name", parse: parseNameArg } },
      columns: ADDED,
      show: (deps, { id, name, key }) => showRecord(deps, ADDED, { id, name, key }),
      notes: (added, deps) => keyNotes(deps, added, added.name),
    }),
    serviceCommand({
      operation: "project.rename",
      scope: "server",
      summary: "rename a project; its keys and links stay valid",
      examples: [
        "surveyctl service project rename default acme --data survey.db",
        "surveyctl service project rename acme acme-eu --json",
      ],
      args: {
        id: { form: "<old>", text: "the project's name" },
        name: { form: "<new>", text: "its new name", parse: (text: string) => parseName(text, "<new>") },
      },
      columns: toResource("projects", { id: "id", name: "text" }),
      done: ({ name, previous }) => `Renamed project ${previous} to ${name}.`,
      notes: ({ name, previous }) =>
        previous === PROJECT_DEFAULT ? [`commands now need --project ${toShellWord(name)}`] : [],
    }),
    serviceCommand({
      operation: "project.remove",
      scope: "server",
      summary: "delete a project with its people, responses, surveys, keys and settings",
      examples: [
        "surveyctl service project remove acme --data survey.db",
        "surveyctl service project remove acme --yes --data survey.db",
      ],
      args: { id: { form: "<name>", text: "the project's name" } },
      columns: toResource("projects", {
        id: "id",
        name: "text",
        people: "number",
        responses: "number",
        keys: "number",
        surveys: "number",
      }),
      asks: true,
      retypes: "id",
      done: ({ name }) => `Removed project ${name}.`,
    }),
    serviceCommand({
      operation: "project.list",
      scope: "server",
      summary: "list projects and their size",
      examples: ["surveyctl service project list --data survey.db", "surveyctl service project list --json"],
      exits: [EXIT.done, EXIT.failed],
      columns: toResource(
        "projects",
        { id: "id", name: "text", people: "number", responses: "number", throttle: "duration", created_at: "time" },
        ["created_at", "throttle"],
      ),
    }),
  ],
});
