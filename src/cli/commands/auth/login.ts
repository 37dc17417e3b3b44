import type { Command } from "commander";
import type { ClientError } from "../../../client/errors/client-error.ts";
import { ConnectionError } from "../../../client/errors/connection-error.ts";
import { AuthError } from "../../../client/errors/status-errors.ts";
import { parseBaseUrl } from "../../../config/base-url.ts";
import { runKeyCommand } from "../../../config/key-command.ts";
import { givenBaseUrl, nameProfile } from "../../../config/settings.ts";
import type { Profile } from "../../../config/profiles.ts";
import { settingsRequest } from "../../command/settings-request.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { writeNote } from "../../command/notes.ts";
import { answeredElse, BASE_URL_ADVICE, check } from "./check.ts";
import { checkName, DEFAULT_PROFILE, fileOf, loadProfiles, refuseDryRun, saveProfiles } from "./profile-file.ts";

export function registerLogin(noun: Command, context: CommandContext): void {
  const command = context
    .verb(noun, {
      name: "login",
      summary: "save a connection: asks for the address and the key, checks them, keeps them in a profile",
      examples: [
        "surveyctl auth login",
        `printf %s "$KEY" | surveyctl auth login --base-url https://surveys.example.com --profile prod`,
        "surveyctl auth login --profile prod --key-command 'op read op://surveys/key'",
      ],
      exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
    })
    .option("--key-command <command>", "save a command that prints the key, instead of the key");
  context.action(command, (deps, flags) => runLogin(deps, { keyCommand: flags.text("--key-command") }));
}

export async function runLogin(deps: Deps, { keyCommand }: { readonly keyCommand: string | null }): Promise<ExitCode> {
  refuseDryRun(deps);
  const request = settingsRequest(deps);
  const name = nameProfile(request)?.value ?? DEFAULT_PROFILE;
  checkName(name);
  const profiles = await loadProfiles(deps, { repair: true });
  const known = givenBaseUrl(request);
  if (known === null || keyCommand === null) await explain(deps);
  const given = known ?? { value: await askBaseUrl(deps, profiles.byName.get(name)), source: "the base URL" };
  const baseUrl = parseBaseUrl(given.value, given.source, deps.options.insecureHttp);
  const key = keyCommand === null ? await readKey(deps) : await runKeyCommand(keyCommand, deps.platform, deps.signal);
  await check(deps, { baseUrl, key, advice: adviseLogin });
  const profile: Profile =
    keyCommand === null ? { base_url: baseUrl, api_key: key } : { base_url: baseUrl, key_command: keyCommand };
  await saveProfiles(deps, {
    defaultName: profiles.defaultName ?? name,
    byName: new Map([...profiles.byName, [name, profile]]),
  });
  const flag = (profiles.defaultName ?? name) === name ? "" : ` --profile ${name}`;
  await writeNote(deps, `the key works; saved as profile "${name}" in ${fileOf(deps)}`);
  await writeNote(deps, `try it with: surveyctl people list${flag}`);
  return EXIT.done;
}

/** Before the first question, to those who are asked one. */
async function explain(deps: Deps): Promise<void> {
  if (!deps.streams.in.isTTY || !deps.streams.err.isTTY || deps.options.quiet) return;
  await deps.streams.err.write(`surveyctl needs two things of a service: its address, and an API key of it. Both
are tried, then saved for you alone in
  ${fileOf(deps)}
No service yet? "surveyctl serve" runs one, "surveyctl demo" shows one at work.

`);
}

async function askBaseUrl({ streams }: Deps, saved: Profile | undefined): Promise<string> {
  if (!streams.in.isTTY) throw new UsageError("--base-url is needed where there is no terminal to ask on");
  const answer = (
    await streams.in.ask(`Base URL of the service${saved === undefined ? "" : ` [${saved.base_url}]`}: `)
  ).trim();
  return answer === "" ? (saved?.base_url ?? "") : answer;
}

const KEY_BYTES_MAX = 4096;

async function readKey({ streams }: Deps): Promise<string> {
  const text = streams.in.isTTY
    ? await streams.in.ask("API key (not shown): ", { secret: true })
    : await readAll(streams.in.bytes());
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key) && !key.includes(":")) return key;
  throw new UsageError(
    key === ""
      ? "no key was given"
      : "that is not an API key: keys are one line of visible ASCII characters without a colon",
    {
      hint: `give it on standard input: printf %s "$KEY" | surveyctl auth login --base-url URL`,
    },
  );
}

async function readAll(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    parts.push(part);
    length += part.length;
    if (length > KEY_BYTES_MAX) throw new UsageError("standard input is longer than a key");
  }
  return Buffer.concat(parts).toString("utf8");
}

/** What to look at when the check fails; auth status would know nothing of it yet. */
function adviseLogin(error: ClientError): string | null {
  if (error instanceof AuthError) return "nothing was saved; is it a key of this service, and whole?";
  if (error instanceof ConnectionError)
    return error.hint ?? "nothing was saved; is the address right, and is the service running?";
  return answeredElse(error) ? `nothing was saved; ${BASE_URL_ADVICE}` : null;
}
