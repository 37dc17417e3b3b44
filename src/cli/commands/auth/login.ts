import { readAtMost } from "../../../runtime/pipe-reader.ts";
import type { ClientError } from "../../../client/errors/client-error.ts";
import { ConnectionError, AuthError } from "../../../client/errors/call-errors.ts";
import { parseBaseUrl } from "../../../config/base-url.ts";
import { configFile } from "../../../config/places.ts";
import { keyProblem } from "../../../config/pasted.ts";
import { runKeyCommand } from "../../../config/key-command.ts";
import { givenBaseUrl, nameProfile } from "../../../config/settings.ts";
import type { Profile, Profiles } from "../../../config/profiles.ts";
import { type Deps, settingsRequest } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { confirm, writeDone, writeWarning } from "../../kit/notes.ts";
import { answeredElse, BASE_URL_ADVICE, check } from "./status.ts";
import { changeProfiles, checkName, DEFAULT_PROFILE, loadProfiles, refuseDryRun } from "./profile-file.ts";

export const login = defineCommand({
  name: "login",
  summary: "save a connection as a profile, after checking its URL and key",
  examples: [
    "surveyctl auth login",
    `printf %s "$KEY" | surveyctl auth login --base-url https://surveys.example.com --profile prod`,
    "surveyctl auth login --profile prod --key-command 'op read op://surveys/key'",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
  flags: {
    keyCommand: { value: "command", text: "save a command that prints the key instead of the key itself" },
  },
  run: async (deps, { keyCommand }) => {
    refuseDryRun(deps);
    const request = settingsRequest(deps);
    const given = nameProfile(request)?.value ?? null;
    if (given !== null) checkName(given);
    const profiles = await loadProfiles(deps, { repair: true });
    const known = givenBaseUrl(request);
    if (known === null || keyCommand === null) await explain(deps);
    const name = await chooseName(deps, given, profiles);
    const address = known ?? { value: await askBaseUrl(deps, profiles.byName.get(name)), source: "the base URL" };
    const baseUrl = parseBaseUrl(address.value, address.source, { allowHttp: deps.options.insecureHttp });
    const key = keyCommand === null ? await readKey(deps) : await runKeyCommand(keyCommand, deps.platform, deps.signal);
    const access = await check(deps, baseUrl, key, adviseLogin);
    const profile: Profile = {
      base_url: baseUrl,
      ...(keyCommand === null ? { api_key: key } : { key_command: keyCommand }),
      ...(access === null ? {} : { access }),
    };
    const { defaultName } = await changeProfiles(deps, (saved) => ({
      defaultName: saved.defaultName ?? name,
      byName: new Map([...saved.byName, [name, profile]]),
    }));
    const saved = profiles.byName.has(name) ? "Replaced" : "Saved as";
    await writeDone(deps, `Logged in. ${saved} profile "${name}" in ${configFile(deps)}.`);
    if (access === "read-only") await writeDone(deps, "The key only reads: commands that write are refused.");
    await writeDone(deps, `Try: surveyctl people list${defaultName === name ? "" : ` --profile ${name}`}`);
    await warnOfVariables(deps, { SURVEYCTL_API_KEY: key, SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_PROFILE: name });
  },
});

function canAsk({ streams }: Deps): boolean {
  return streams.in.isTTY && streams.err.isTTY;
}

async function explain(deps: Deps): Promise<void> {
  if (!canAsk(deps) || deps.options.quiet) return;
  await deps.streams.err.write(`Enter the service's URL and an API key. They will be verified and saved to
  ${configFile(deps)} (readable only by you).
No service yet? Run one with "surveyctl serve", or see one with "surveyctl demo".

`);
}

/** Asks before replacing a profile on a terminal. Scripts aren't asked, because they rotate keys this way. */
async function chooseName(deps: Deps, given: string | null, { byName }: Profiles): Promise<string> {
  if (!canAsk(deps)) return given ?? DEFAULT_PROFILE;
  const name = given ?? (byName.size === 0 ? DEFAULT_PROFILE : await askName(deps));
  const saved = byName.get(name);
  if (saved !== undefined) await confirm(deps, `Replace profile "${name}" (${saved.base_url})?`, "Nothing was saved.");
  return name;
}

async function askName({ streams }: Deps): Promise<string> {
  const answer = (await streams.in.ask(`Profile name [${DEFAULT_PROFILE}]: `)).trim();
  const name = answer === "" ? DEFAULT_PROFILE : answer;
  checkName(name);
  return name;
}

async function warnOfVariables(deps: Deps, saved: Readonly<Record<string, string>>): Promise<void> {
  for (const [variable, value] of Object.entries(saved))
    if (![undefined, "", value].includes(deps.env[variable]?.trim()))
      await writeWarning(deps, `${variable} is set and takes precedence over the saved profile`);
}

async function askBaseUrl({ streams }: Deps, saved: Profile | undefined): Promise<string> {
  if (!streams.in.isTTY) throw new UsageError("--base-url is required when not on a terminal");
  const answer = (
    await streams.in.ask(`Base URL of the service${saved === undefined ? "" : ` [${saved.base_url}]`}: `)
  ).trim();
  return answer === "" ? (saved?.base_url ?? "") : answer;
}

const KEY_BYTES_MAX = 4096;

async function readKey({ streams }: Deps): Promise<string> {
  const text = streams.in.isTTY
    ? await streams.in.ask("API key (hidden): ", { secret: true })
    : await readAtMost(streams.in.bytes(), KEY_BYTES_MAX);
  if (text === null) throw new UsageError("standard input is longer than a key");
  const key = text.toString().trim();
  const problem = keyProblem(key);
  if (problem === null) return key;
  throw new UsageError(key === "" ? "no API key was entered" : `the key ${problem}`, {
    hint: `pass it on standard input: printf %s "$KEY" | surveyctl auth login --base-url URL`,
  });
}

/** `auth status` can't help, because nothing has been saved yet. */
function adviseLogin(error: ClientError): string | null {
  if (error instanceof AuthError)
    return "Nothing was saved. Check that the key is complete and belongs to this service.";
  if (error instanceof ConnectionError)
    return error.hint ?? "Nothing was saved. Check the address, and that the service is running.";
  return answeredElse(error) ? `Nothing was saved. ${BASE_URL_ADVICE}` : null;
}
