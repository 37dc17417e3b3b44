import type { Command } from "commander";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";
import { KEYS, NEW_KEY, REMOVED } from "../service-resources.ts";

/** What is said beside a new key. */
export const KEY_NOTE = "save this key now; it is not shown again";

export function registerKey(parent: Command, context: CommandContext): void {
  const noun = parent.command("key").description("API keys, stored hashed and shown once");
  projectVerb(context, noun, {
    kind: "key.add",
    name: "add",
    summary: "create a key and print it, once",
    examples: ["surveyctl service key add --data survey.db", "surveyctl service key add --project acme --json"],
    columns: NEW_KEY,
    note: KEY_NOTE,
  });
  projectVerb(context, noun, {
    kind: "key.list",
    name: "list",
    alias: "ls",
    summary: "list keys by number and last four characters",
    examples: ["surveyctl service key list --data survey.db", "surveyctl service key list --project acme --json"],
    columns: KEYS,
  });
  projectVerb(context, noun, {
    kind: "key.revoke",
    name: "revoke",
    summary: "revoke a key at once, in a running service too",
    operands: [["<id>", "the key's number, from `service key list`"]],
    examples: [
      "surveyctl service key revoke 1 --data survey.db",
      "surveyctl service key list --columns id | tail -1 | xargs surveyctl service key revoke --yes",
    ],
    columns: REMOVED,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service key revoke",
      question: async (admin, { project, operands: [id] }) => {
        const key = (await admin({ kind: "key.list", project })).find((one) => one.id === id);
        return key === undefined ? null : `Revoke key ${id} (…${key.last_four}) of project ${project}?`;
      },
    },
    done: (_, { project, operands: [id] }) => `Revoked key ${id} of project ${project}.`,
  });
}
