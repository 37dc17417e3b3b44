import { EXIT } from "../../../exit-codes.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { parseNameArg, serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";
import { KEY_NOTE } from "./key.ts";

export const project = defineGroup({
  name: "project",
  summary: "add and list projects, each with its own people, responses, settings and keys",
  commands: [
    serviceCommand({
      operation: "project.add",
      scope: "server",
      summary: "create a project and print its first key once",
      examples: ["surveyctl service project add acme --data survey.db", "surveyctl service project add acme --json"],
      args: { name: { form: "<name>", text: "the project's name", parse: parseNameArg } },
      columns: toResource("projects", { id: "id", name: "text", key: "text" }),
      notes: () => [KEY_NOTE],
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
