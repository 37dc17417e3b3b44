import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { MEMBERS, REMOVED_MEMBER } from "../../render/resources.ts";
import { checkTerminal, confirm } from "../confirm.ts";
import { writeDryRun } from "../dry-run.ts";
import { withClient } from "../with-client.ts";
import { showOutcome } from "../write-outcome.ts";
import { toMemberParameters, type MemberIdentifiers } from "./member-identifiers.ts";

export interface AutopilotRemoveOptions {
  readonly platform: Platform;
  /** Exactly one. */
  readonly person: MemberIdentifiers;
  readonly yes: boolean;
}

export async function runAutopilotRemove(deps: Deps, { platform, person, yes }: AutopilotRemoveOptions): Promise<ExitCode> {
  const who = exactlyOne(person);
  const body = toMemberParameters(person);
  checkColumns(deps, REMOVED_MEMBER);
  const ask = !yes && !deps.options.dryRun;
  if (ask) checkTerminal(deps, "autopilot remove");
  return withClient(deps, async (client) => {
    if (deps.options.dryRun) {
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.removeMember, placeholders: { platform }, body });
      return EXIT.done;
    }
    if (ask) await confirm(deps, `Remove ${who} from Autopilot (${platform}) at ${client.baseUrl}?`);
    const result = await client.removeMember(platform, body, { signal: deps.signal });
    const evidence = `look with "surveyctl autopilot list --platform ${platform}"; removing again is safe`;
    return showOutcome(deps, result, { answer: REMOVED_MEMBER, found: MEMBERS, evidence });
  });
}

function exactlyOne({ personId, email, phone }: MemberIdentifiers): string {
  const [who, ...others] = [personId, email, phone].filter((value) => value !== null);
  if (who === undefined || others.length > 0) throw new UsageError("exactly one of --person-id, --email and --phone is needed");
  return who;
}
