import type { Command } from "commander";
import { configFile } from "../../../../config/places.ts";
import { readProfiles } from "../../../../config/profiles.ts";
import { toIsoTime } from "../../../../contract/text/iso-time.ts";
import type { KeyInfo } from "../../../../service/admin/project/commands.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { parseLifetime, parseName } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { projectVerb } from "../project-verb.ts";
import { KEYS, NEW_KEY, REMOVED, ROTATED_KEY } from "../service-resources.ts";

/** The note next to a new key. */
export const KEY_NOTE = "save this key now; it is not shown again";

const EXPIRES_FLAG: FlagRecord = {
  flag: "--expires",
  value: "duration",
  text: "end the key after this long, such as 90d",
  otherwise: "it never ends",
};

function readExpiry(flags: Flags): { readonly expiresAfter?: number } {
  const expiresAfter = flags.parse("--expires", parseLifetime);
  return expiresAfter === null ? {} : { expiresAfter };
}

/** Every saved key of the key's last four characters, and the variable: whoever uses one is locked out. */
async function usesHere({ env, platform }: Deps, lastFour: string): Promise<string[]> {
  const { byName } = await readProfiles(configFile({ env, platform })).catch(() => ({
    byName: new Map<string, never>(),
  }));
  const saved = [...byName].flatMap(([name, profile]) =>
    "api_key" in profile ? [[`profile ${name}`, profile.api_key] as const] : [],
  );
  const all = [["SURVEYCTL_API_KEY", env["SURVEYCTL_API_KEY"] ?? ""] as const, ...saved];
  return all.flatMap(([place, key]) => (key.trim().endsWith(lastFour) ? [place] : []));
}

async function questionOf(deps: Deps, project: string, key: KeyInfo, isLast: boolean): Promise<string> {
  const name = key.name === null ? "" : ` "${key.name}"`;
  const places = await usesHere(deps, key.last_four);
  return [
    `Revoke key ${key.id}${name} (…${key.last_four}) of project ${project}?`,
    ...(isLast ? ["It is the project's last key: nothing can call the API without one."] : []),
    ...(places.length === 0 ? [] : [`It is in use here: ${places.join(", ")}.`]),
  ].join(" ");
}

export function registerKey(parent: Command, context: CommandContext): void {
  const noun = parent.command("key").description("API keys, stored hashed and shown once");
  projectVerb(context, noun, {
    kind: "key.add",
    name: "add",
    summary: "create a key and print it once",
    examples: [
      "surveyctl service key add --name ci --data survey.db",
      "surveyctl service key add --read-only --name reports --expires 90d",
      "surveyctl service key add --project acme --json",
    ],
    flags: [
      { flag: "--name", value: "name", text: "what the key is for, such as ci" },
      { flag: "--read-only", text: "let the key only read; the service refuses its writes" },
      EXPIRES_FLAG,
    ],
    columns: NEW_KEY,
    details: ({ flags }) => {
      const name = flags.parse("--name", parseName);
      return {
        ...(name === null ? {} : { name }),
        access: flags.is("--read-only") ? "read-only" : "full",
        ...readExpiry(flags),
      };
    },
    notes: () => [KEY_NOTE],
  });
  projectVerb(context, noun, {
    kind: "key.list",
    name: "list",
    alias: "ls",
    summary: "list keys with their access, last use and end, never the keys themselves",
    examples: ["surveyctl service key list --data survey.db", "surveyctl service key list --project acme --json"],
    columns: KEYS,
  });
  registerRotate(noun, context);
  projectVerb(context, noun, {
    kind: "key.revoke",
    name: "revoke",
    summary: "revoke a key at once, in a running service too",
    operands: [["<id|name>", "the key's number or name, from `service key list`"]],
    examples: [
      "surveyctl service key revoke 1 --data survey.db",
      "surveyctl service key revoke reports --project acme --yes",
    ],
    columns: REMOVED,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service key revoke",
      question: async (admin, { deps, project, operands: [which = ""] }) => {
        const { key, isLast } = await admin({ kind: "key.find", project, id: which });
        return { text: await questionOf(deps, project, key, isLast), details: { id: key.id } };
      },
    },
    done: ({ id }, { project }) => `Revoked key ${id} of project ${project}.`,
  });
}

function registerRotate(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "key.rotate",
    name: "rotate",
    summary: "create another key with the same name and access, and print it once",
    operands: [["<name|id>", "the key's name or number, from `service key list`"]],
    examples: [
      "surveyctl service key rotate ci --data survey.db",
      "surveyctl service key rotate ci --revoke-after 24h --json",
    ],
    flags: [
      {
        flag: "--revoke-after",
        value: "duration",
        text: "end the previous key after this long, such as 24h",
        otherwise: "it keeps working",
      },
      EXPIRES_FLAG,
    ],
    columns: ROTATED_KEY,
    details: ({ flags, operands: [id = ""] }) => {
      const endsAfter = flags.parse("--revoke-after", parseLifetime);
      return { id, ...(endsAfter === null ? {} : { endsAfter }), ...readExpiry(flags) };
    },
    done: ({ previous, previous_until: until }) =>
      until === null
        ? `Previous: key ${previous.join(", ")}, which works until \`surveyctl service key revoke\`.`
        : `Previous: key ${previous.join(", ")}, which ends at ${toIsoTime(until)}.`,
    notes: () => [KEY_NOTE],
  });
}
