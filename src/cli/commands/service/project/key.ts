import { configFile } from "../../../../config/places.ts";
import { toIsoTime } from "../../../../contract/text/iso-time.ts";
import type { Confirmation } from "../../../../service/domain/errors.ts";
import type { ResultOf } from "../../../../service/operations/index.ts";
import { parseName } from "../../../args/values.ts";
import type { Deps } from "../../../kit/deps.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { loginCommand } from "../../serve/address.ts";
import { serviceCommand } from "../service-command.ts";

const KEY_NOTE = "save this key now; it is not shown again";

const EXPIRES = {
  value: "duration",
  text: "expire the key after this time, such as 90d",
  otherwise: "never expires",
} as const;

export const key = defineGroup({
  name: "key",
  summary: "API keys, stored hashed and shown once",
  commands: [
    serviceCommand({
      operation: "key.add",
      summary: "create a key and print it once",
      examples: [
        "surveyctl service key add --name ci --data survey.db",
        "surveyctl service key add --read-only --name reports --expires 90d",
        "surveyctl service key add --project acme --json",
      ],
      flags: {
        name: { value: "name", text: "what the key is for, such as ci", parse: parseName },
        admin: {
          text: "let the key administer its project from anywhere; not for scripts or agents",
          conflicts: ["--read-only"],
        },
        read_only: { text: "let the key only read; the service refuses all writes with it" },
        expires: EXPIRES,
      },
      noun: "keys",
      notes: (added, deps) => keyNotes(deps, added, added.name),
    }),
    serviceCommand({
      operation: "key.list",
      summary: "list each key's name, access, last use and expiry, but never the key itself",
      examples: ["surveyctl service key list --data survey.db", "surveyctl service key list --project acme --json"],
      noun: "keys",
    }),
    serviceCommand({
      operation: "key.rotate",
      summary: "create another key with the same name and access, and print it once",
      examples: [
        "surveyctl service key rotate ci --data survey.db",
        "surveyctl service key rotate ci --revoke-after 24h --json",
      ],
      args: { id: { form: "<name|id>", text: "the key's name or number, from `service key list`" } },
      flags: {
        revoke_after: {
          value: "duration",
          text: "expire the previous key after this time, such as 24h",
          otherwise: "the old key stays valid",
        },
        expires: EXPIRES,
      },
      noun: "keys",
      done: ({ previous, previous_until: until }) =>
        until === null
          ? `Previous: key ${previous.join(", ")}, which works until \`surveyctl service key revoke\`.`
          : `Previous: key ${previous.join(", ")}, which ends at ${toIsoTime(until)}.`,
      notes: async (added, deps) => {
        const places = await usesHere(deps, added.previous_last_four);
        const saved = places.find((place) => place.startsWith(IN_PROFILE));
        return keyNotes(deps, added, saved?.slice(IN_PROFILE.length) ?? added.name);
      },
    }),
    serviceCommand({
      operation: "key.revoke",
      summary: "revoke a key immediately, including in a running service",
      examples: [
        "surveyctl service key revoke 1 --data survey.db",
        "surveyctl service key revoke reports --project acme --yes",
      ],
      args: { id: { form: "<id|name>", text: "the key's number or name, from `service key list`" } },
      noun: "rows",
      asks: questionOf,
      done: ({ id }, { project }) => `Revoked key ${id} of project ${project}.`,
    }),
  ],
});

async function questionOf({ question, last_four: lastFour }: Confirmation, deps: Deps): Promise<string> {
  const places = await usesHere(deps, [lastFour as string]);
  return [question, ...(places.length === 0 ? [] : [`It is in use here: ${places.join(", ")}.`])].join(" ");
}

/** The key itself is only printed again on a terminal, because scripts often keep stderr. */
export function keyNotes(
  { streams }: Deps,
  added: Pick<ResultOf<"key.add">, "key" | "base_url">,
  profile: string,
): readonly string[] {
  const { key: secret, base_url: url } = added;
  const shown = streams.out.isTTY ? `'${secret}'` : '"$KEY"';
  const name = profile.replaceAll(/[^\w.-]+/g, "-").slice(0, 64);
  return [KEY_NOTE, `to use it here: printf %s ${shown} | ${loginCommand(url)} --profile ${name}`];
}

const IN_PROFILE = "profile ";

async function usesHere({ env, platform }: Deps, lastFour: readonly string[]): Promise<string[]> {
  const { readProfiles } = await import("../../../../config/profiles.ts");
  const { byName } = await readProfiles(configFile({ env, platform })).catch(() => ({
    byName: new Map<string, never>(),
  }));
  const saved = [...byName].flatMap(([name, profile]) =>
    "api_key" in profile ? [[IN_PROFILE + name, profile.api_key] as const] : [],
  );
  const all = [["SURVEYCTL_API_KEY", env["SURVEYCTL_API_KEY"] ?? ""] as const, ...saved];
  return all.flatMap(([place, secret]) => (lastFour.some((end) => secret.trim().endsWith(end)) ? [place] : []));
}
